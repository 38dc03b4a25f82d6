"""What the official client does with webhooks and Jobs, against the hub at HF_ENDPOINT. Prints a line for each part."""

import json
import os
import subprocess
import time
import urllib.request

from huggingface_hub import HfApi, WebhookWatchedItem
from huggingface_hub.errors import HfHubHTTPError

api = HfApi()
bob = HfApi(token="hf_bob")
target = os.environ["TARGET"] + "/webhooks/x"


def post(path, body):
    request = urllib.request.Request(
        os.environ["HF_ENDPOINT"] + path,
        data=json.dumps(body).encode(),
        headers={"authorization": "Bearer hf_alice", "content-type": "application/json"},
    )
    return json.load(urllib.request.urlopen(request))


def get(path):
    request = urllib.request.Request(os.environ["HF_ENDPOINT"] + path, headers={"authorization": "Bearer hf_alice"})
    return json.load(urllib.request.urlopen(request))


def hf(*words, code=0, stdin=""):
    ended = subprocess.run(["hf", *words], capture_output=True, text=True, input=stdin)
    assert ended.returncode == code, (words, ended.returncode, ended.stdout, ended.stderr)
    return ended.stdout if code == 0 else ended.stdout + ended.stderr


def refused(status, words, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except HfHubHTTPError as error:
        assert error.response.status_code == status, error
        assert words in str(error), str(error)
        assert "Request ID" in str(error) or "request" in str(error).lower(), str(error)
        return
    raise AssertionError(f"not refused: {call.__name__} {args} {kwargs}")


def part(name):
    print(f"ok: {name}", flush=True)


# The Python client
assert api.whoami()["name"] == "alice"
made = api.create_webhook(url=target, watched=[{"type": "user", "name": "alice"}], domains=["repo"], secret="s3cret")
assert (made.url, made.domains, made.disabled, made.secret) == (target, ["repo"], False, None), made
assert api.get_webhook(made.id) == made and api.list_webhooks() == [made]
assert made.watched == [WebhookWatchedItem(type="user", name="alice")]
part("create, get and list webhooks")

changed = api.update_webhook(made.id, secret="other")
assert changed.watched == made.watched and changed.domains == ["repo"] and changed.url == target
changed = api.update_webhook(made.id, watched=[{"type": "bucket", "name": "alice/b"}], domains=["repo", "discussion"])
assert changed.watched == [WebhookWatchedItem(type="bucket", name="alice/b")]
assert api.disable_webhook(made.id).disabled is True and api.enable_webhook(made.id).disabled is False
part("update keeps what is not given; disable and enable")

refused(404, "there is no webhook", bob.get_webhook, made.id)
refused(404, "there is no webhook", bob.delete_webhook, made.id)
refused(400, "url", api.create_webhook, url="ftp://x", watched=[{"type": "user", "name": "alice"}])
refused(400, "watched", api.create_webhook, url=target, watched=[])
refused(400, "jobSourceId", api.create_webhook, job_id="0123", watched=[{"type": "user", "name": "alice"}])
refused(401, "invalid token", HfApi(token="hf_nobody").list_webhooks)
part("refusals are read by the client, with their reason")

# The command line
listed = json.loads(hf("webhooks", "ls", "--format", "json"))
assert [one["id"] for one in listed] == [made.id], listed
assert hf("webhooks", "ls", "--format", "quiet").strip() == made.id
created = hf("webhooks", "create", "--url", target, "--watch", "dataset:alice/d", "--watch", "org:acme", "--domain", "discussion", "--format", "json")
second = json.loads(created)["id"]
assert "dataset" in hf("webhooks", "info", second, "--format", "json")
hf("webhooks", "update", second, "--url", target + "2")
assert api.get_webhook(second).watched[0].name == "alice/d"
hf("webhooks", "disable", second)
hf("webhooks", "enable", second)
hf("webhooks", "delete", second, code=1)
assert len(api.list_webhooks()) == 2, "delete without a terminal and without --yes asks nothing of the hub"
hf("webhooks", "delete", second, "--yes")
assert "there is no webhook" in hf("webhooks", "info", second, code=1)
part("hf webhooks ls, info, create, update, enable, disable, delete")

# An event
api.update_webhook(made.id, watched=[{"type": "dataset", "name": "alice/d"}])
assert post("/api/hub/events", {"event": {"scope": "repo", "action": "update"}, "repo": {"type": "dataset", "name": "alice/d"}})["deliveries"] == 1
for _ in range(100):
    activity = get(f"/api/settings/webhooks/{made.id}/activity")["deliveries"]
    if activity and activity[0]["state"] == "succeeded":
        break
    time.sleep(0.05)
assert activity[0]["attempts"][0]["status"] == 200, activity
part("an event is delivered")

# Jobs
job = api.run_job(image="python:3.12", command=["sh", "-c", "echo hello $NAME"], env={"NAME": "hub"}, secrets={"S": "x"})
assert list(api.fetch_job_logs(job_id=job.id, follow=True)) == ["hello hub"]
assert api.inspect_job(job_id=job.id).status.stage == "COMPLETED"
assert [one.id for one in api.list_jobs()] == [job.id]
long = api.run_job(image="python:3.12", command=["sleep", "100"])
api.cancel_job(job_id=long.id)
assert api.inspect_job(job_id=long.id).status.stage == "CANCELED"
part("run, follow, inspect, list and cancel Jobs")

source = api.run_job(image="python:3.12", command=["sh", "-c", "echo $WEBHOOK_REPO_TYPE $WEBHOOK_REPO_ID $TOKEN"])
hook = api.create_webhook(job_id=source.id, watched=[{"type": "model", "name": "alice/m"}], secrets={"TOKEN": "t"})
assert hook.url is None and hook.job.docker_image == "python:3.12" and hook.job.command[0] == "sh"
assert "(job)" in hf("webhooks", "ls")
post("/api/hub/events", {"event": {"scope": "repo", "action": "update"}, "repo": {"type": "model", "name": "alice/m"}})
for _ in range(100):
    activity = get(f"/api/settings/webhooks/{hook.id}/activity")["deliveries"]
    if activity and activity[0]["state"] == "succeeded":
        break
    time.sleep(0.05)
assert list(api.fetch_job_logs(job_id=activity[0]["attempts"][0]["job"])) == ["model alice/m t"]
part("a webhook with a Job runs it")

# The rate limit, last: it is used up here.
try:
    for _ in range(300):
        api.list_webhooks()
    raise AssertionError("never limited")
except HfHubHTTPError as error:
    assert error.response.status_code == 429 and "rate limit" in str(error), str(error)
part("the rate limit is understood")
