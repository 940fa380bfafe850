#!/usr/bin/env python3
"""Compares the lines of CaseRun.swift with the cases.

    compare.py LINES

Prints a row for each case with another result than expected. Exit status: 0 where there is none, 3 where there is one."""
import collections
import json
import os
import sys

CASES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def cases():
    """Identifier, verdict, confidence, and description of each case."""
    with open(os.path.join(CASES, "parse/cases.tsv"), encoding="utf-8") as file:
        for line in file.readlines()[1:]:
            name, verdict, confidence, _, about = line.rstrip("\n").split("\t")
            yield name, verdict, confidence, about
    with open(os.path.join(CASES, "model/cases.jsonl"), encoding="utf-8") as file:
        for case in map(json.loads, file):
            end = max((event["end"] for event in case["events"]), default=0)
            yield case["id"], "accept", case["confidence"], f"the last event ends at {end:.4f} s"


with open(sys.argv[1], encoding="utf-8") as file:
    rows = [line.rstrip("\r\n").split("\t") for line in file if "\t" in line]
lines = {row[0]: row + [""] * (6 - len(row)) for row in rows}
tally = collections.Counter()
differences = 0
for name, verdict, confidence, about in cases():
    if name not in lines:
        tally[f"{confidence}: no line"] += 1
        continue
    _, had, code, had_dictionary, code_dictionary, duration = lines[name]
    if verdict == "either" and had != "crash":
        tally[f"{confidence}: open, device says {had}"] += 1
        continue
    same = had == verdict
    tally[f"{confidence}: {'as expected' if same else 'other than expected'}"] += 1
    differences += not same
    if not same or had_dictionary != had:
        print("\t".join([name, confidence, f"expected {verdict}", f"file: {had} {code}",
                         f"dictionary: {had_dictionary} {code_dictionary}", duration, about]))
for text, count in sorted(tally.items()):
    print(f"{text}: {count}")
sys.exit(3 if differences else 0)
