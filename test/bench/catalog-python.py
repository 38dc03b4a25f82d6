"""Seconds, and seconds of processor time, that Python's jsonschema takes to read a file and find all errors: catalog-python.py <schema> <file>."""
import json
import sys
import time

from jsonschema import Draft202012Validator

with open(sys.argv[1], encoding="utf-8") as schema:
    validator = Draft202012Validator(json.load(schema), format_checker=Draft202012Validator.FORMAT_CHECKER)
begun = (time.perf_counter(), time.process_time())
with open(sys.argv[2], encoding="utf-8") as file:
    errors = list(validator.iter_errors(json.load(file)))
print(time.perf_counter() - begun[0], time.process_time() - begun[1])
