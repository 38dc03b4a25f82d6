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


def ours(*words, code=0, stdin=""):
    command = [*json.loads(os.environ["HUBHOOK"]), "webhooks", *words, "--format", "json"]
    ended = subprocess.run(command, capture_output=True, text=True, input=stdin)
    assert ended.returncode == code, (words, ended.returncode, ended.stdout, ended.stderr)
    return json.loads(ended.stdout) if code == 0 else ended.stderr


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

# Our command line beside theirs
def same(id):
    """What `hf` and `hubhook` tell of a webhook, field by field; gives back ours."""
    theirs, mine = json.loads(hf("webhooks", "info", id, "--format", "json")), ours("info", id)
    for field in ("id", "url", "watched", "domains", "disabled"):
        assert theirs.get(field) == mine[field], (field, theirs, mine)
    assert theirs.get("secret") is None and "secret" not in mine
    job, my_job = theirs.get("job"), mine["job"]
    assert (job is None) == (my_job is None), (job, my_job)
    for field, my_field in (("docker_image", "dockerImage"), ("command", "command"), ("arguments", "arguments"), ("environment", "environment"), ("secrets", "secrets"), ("flavor", "flavor"), ("timeout", "timeout")) if job else ():
        assert job.get(field) == my_job.get(my_field), (field, job, my_job)
    row = [one for one in json.loads(hf("webhooks", "ls", "--format", "json")) if one["id"] == id]
    watched = [f"{one['type']}:{one['name']}" for one in mine["watched"]]
    assert row == [{"id": id, "url": mine["url"] or "(job)", "disabled": mine["disabled"], "domains": mine["domains"], "watched": watched}], (row, mine)
    assert [one for one in ours("ls") if one["id"] == id] == [mine]
    return mine


flags = ("--url", target, "--watch", "dataset:alice/d", "--watch", "org:acme", "--watch", "bucket:alice/b", "--domain", "discussion", "--secret", "s3cret")
by_hf = json.loads(hf("webhooks", "create", *flags, "--format", "json"))["id"]
by_us = ours("create", *flags)["id"]
one, other = same(by_hf), same(by_us)
for field in ("url", "job", "watched", "domains", "disabled", "status", "hasSecret"):
    assert one[field] == other[field], (field, one, other)
by_hf_job = json.loads(hf("webhooks", "create", "--job-id", source.id, "--watch", "user:alice", "--secrets", "TOKEN=t", "--format", "json"))["id"]
by_us_job = ours("create", "--job-id", source.id, "--watch", "user:alice", "--secrets", "TOKEN=t")["id"]
one, other = same(by_hf_job), same(by_us_job)
for field in ("url", "job", "watched", "domains", "disabled", "status", "hasSecret"):
    assert one[field] == other[field], (field, one, other)
part("what hf webhooks creates, hubhook webhooks lists, and the other way round")

before = same(by_hf)
ours("update", by_hf, "--secret", "other")
kept = ("url", "job", "watched", "domains", "disabled", "hasSecret")
assert [same(by_hf)[field] for field in kept] == [before[field] for field in kept]
hf("webhooks", "update", by_us, "--url", target + "2")
ours("update", by_hf, "--url", target + "2")
assert [same(by_hf)[field] for field in kept] == [same(by_us)[field] for field in kept]
hf("webhooks", "disable", by_us)
assert same(by_us)["status"] == "disabled"
ours("enable", by_us[:20])
assert same(by_us)["status"] == "enabled"
ours("update", by_us_job, "--url", target)
assert same(by_us_job)["job"] is None
ours("delete", by_hf, code=2)
for id in (by_hf, by_us, by_hf_job, by_us_job):
    ours("delete", id, "--yes")
    assert "there is no webhook" in hf("webhooks", "info", id, code=1)
part("each changes, enables, disables and deletes what the other made")

# What `hf auth login` stores, we find, and it is not shown
del os.environ["HF_TOKEN"]
hf("auth", "login", "--token", "hf_bob")
ended = subprocess.run([*json.loads(os.environ["HUBHOOK"]), "webhooks", "ls", "--verbose"], capture_output=True, text=True)
assert ended.returncode == 0 and ended.stderr.startswith(f"As bob on {os.environ['HF_ENDPOINT']} (token: from "), ended
assert "hf_bob" not in ended.stdout + ended.stderr
os.environ["HF_TOKEN"] = "hf_alice"
part("the token that hf auth login stored is used")

# The rate limit, last: it is used up here.
try:
    for _ in range(300):
        api.list_webhooks()
    raise AssertionError("never limited")
except HfHubHTTPError as error:
    assert error.response.status_code == 429 and "rate limit" in str(error), str(error)
part("the rate limit is understood")
