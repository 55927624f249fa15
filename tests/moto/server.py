"""A server of the S3 protocol that checks signatures and policies (moto), for tests/moto.rs.

Prints a line of JSON: {"endpoint", "key", "secret"}, of a user who may do in the buckets `photos` of eu-west-1 and
`missing`, which is not there, what the documentation of `adapter::s3` asks for. Then answers every line of input, the key of
an object, with a line of what is known of it. Ends with its input.
"""

import json
import os
import sys

# After these calls every request must be signed.
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "4"

import boto3
from moto.server import ThreadedMotoServer

BUCKET, REGION = "photos", "eu-west-1"
POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Action": ["s3:PutObject", "s3:PutObjectAcl", "s3:PutObjectTagging", "s3:GetObject", "s3:GetObjectAcl",
                       "s3:GetObjectTagging", "s3:DeleteObject"],
            "Resource": [f"arn:aws:s3:::{BUCKET}/*", "arn:aws:s3:::missing/*"],
        },
        {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": f"arn:aws:s3:::{BUCKET}"},
    ],
}

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
endpoint = f"http://{host}:{port}"


def client(service, key="setup", secret="setup"):
    return boto3.client(service, region_name=REGION, endpoint_url=endpoint, aws_access_key_id=key,
                        aws_secret_access_key=secret)


iam = client("iam")
iam.create_user(UserName="lapidary")
iam.put_user_policy(UserName="lapidary", PolicyName="put", PolicyDocument=json.dumps(POLICY))
made = iam.create_access_key(UserName="lapidary")["AccessKey"]
client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
reader = client("s3", made["AccessKeyId"], made["SecretAccessKey"])
print(json.dumps({"endpoint": endpoint, "key": made["AccessKeyId"], "secret": made["SecretAccessKey"]}), flush=True)

for line in sys.stdin:
    place = {"Bucket": BUCKET, "Key": json.loads(line)}
    found = reader.get_object(**place)
    known = {name: value for name, value in found["ResponseMetadata"]["HTTPHeaders"].items()}
    known["body"] = found["Body"].read().decode("latin-1")
    known["tags"] = {tag["Key"]: tag["Value"] for tag in reader.get_object_tagging(**place)["TagSet"]}
    known["grants"] = [[grant["Grantee"].get("URI", "owner").rsplit("/", 1)[-1], grant["Permission"]]
                       for grant in reader.get_object_acl(**place)["Grants"]]
    print(json.dumps(known), flush=True)
server.stop()
