#!/usr/bin/env python3
"""Writes parse/, model/ and render/ from the cases below, and haptic/ and android/ from the cases of generate_vendors.py.
Expected values follow from the documents alone: nothing here calls a haptic program. An id is never given to another case."""
import json
import math
import os

import generate_vendors

HERE = os.path.dirname(os.path.abspath(__file__))
AHAP, API, SAMPLE, CHOICE, RFC = "apple-ahap", "apple-api", "apple-samples", "choice", "rfc8259"
UNITY, ERRORS = "apple-unity", "apple-error-codes"
ENDINGS = {"haptic": "haptic", "android": "xml"}


def confidence(source):
    """Documented, or decided here: on evidence such as the names of error codes, or on none."""
    return "decided" if source in (CHOICE, UNITY, ERRORS) else "documented"


def par(**values):
    return [{"ParameterID": k, "ParameterValue": v} for k, v in values.items()]


def tap(t, i=None, s=None, **more):
    values = {k: v for k, v in (("HapticIntensity", i), ("HapticSharpness", s)) if v is not None}
    event = {"Time": t, "EventType": "HapticTransient"}
    if values:
        event["EventParameters"] = par(**values)
    return {"Event": {**event, **more}}


def hum(t, d, i=None, s=None, **more):
    entry = tap(t, i, s, **more)
    entry["Event"]["EventType"] = "HapticContinuous"
    if d is not None:
        entry["Event"]["EventDuration"] = d
    return entry


def with_values(entry, **values):
    entry["Event"].setdefault("EventParameters", []).extend(par(**values))
    return entry


def step(name, t, v):
    return {"Parameter": {"ParameterID": name, "ParameterValue": v, "Time": t}}


def curve(name, t, *points):
    return {"ParameterCurve": {"ParameterID": name, "Time": t,
                               "ParameterCurveControlPoints": [{"Time": a, "ParameterValue": b} for a, b in points]}}


def ahap(*entries):
    rows = ",\n  ".join(json.dumps(e) for e in entries)
    return '{"Version": 1.0, "Pattern": [\n  %s\n]}\n' % rows


I, S = "HapticIntensityControl", "HapticSharpnessControl"

# ---------------------------------------------------------------------------------------------------------- parse/
PARSE = []


def p(name, verdict, source, about, text):
    """A case of reading; that the interface refuses something is known from the names of its error codes alone."""
    source = ERRORS if source == API and verdict == "refuse" else source
    PARSE.append((name, verdict, confidence(source), source, about, text if isinstance(text, bytes) else text.encode()))


def parse_cases():
    # Every event has parameters, which some readers require, so that a case fails for its own reason.
    V = '"EventParameters": [%s], ' % ", ".join(json.dumps(one) for one in par(HapticIntensity=1.0, HapticSharpness=0.5))
    T = '{"Event": {' + V + '"Time": 0, "EventType": "HapticTransient"}}'
    file = lambda *entries, head='"Version": 1.0, ': "{" + head + '"Pattern": [' + ", ".join(entries) + "]}\n"
    event = lambda body: file('{"Event": {' + ("" if not body or "EventParameters" in body else V) + body + "}}")
    haptic = lambda values: event('"Time": 0, "EventType": "HapticTransient", "EventParameters": [' + values + "]")
    sound = lambda more: event('"Time": 0, "EventType": "AudioCustom"' + more)
    control = lambda body: file(T, '{"Parameter": {' + body + "}}")
    line = lambda body: file(T, '{"ParameterCurve": {"ParameterID": "%s", "Time": 0, ' % I + body + "}}")
    points = lambda body: line('"ParameterCurveControlPoints": [' + body + "]")
    ok, no, any_ = "accept", "refuse", "either"
    A = '"Time": 0, "EventType": "HapticTransient"'
    C = '"Time": 0, "EventType": "HapticContinuous"'
    HI = '{"ParameterID": "HapticIntensity", "ParameterValue": %s}'

    p("p-smallest", ok, AHAP, "one transient without parameters",
      file('{"Event": {"Time": 0, "EventType": "HapticTransient"}}'))
    p("p-plain", ok, AHAP, "one transient with parameters", file(T))
    p("p-version-integer", ok, SAMPLE, "Version written 1", file(T, head='"Version": 1, '))
    p("p-version-missing", ok, AHAP, "a dictionary without Version", file(T, head=""))
    p("p-version-last", ok, RFC, "the order of keys is free", '{"Pattern": [%s], "Version": 1.0}' % T)
    p("p-version-2", any_, CHOICE, "a version that is not published", file(T, head='"Version": 2.0, '))
    p("p-version-string", no, CHOICE, "Version is a string", file(T, head='"Version": "1.0", '))
    p("p-version-null", any_, CHOICE, "Version is null", file(T, head='"Version": null, '))
    p("p-version-negative", any_, CHOICE, "Version below 0", file(T, head='"Version": -1, '))
    p("p-pattern-empty", any_, CHOICE, "no entries: nothing to play", file())
    p("p-pattern-missing", no, AHAP, "Pattern is required", '{"Version": 1.0}')
    p("p-pattern-lowercase", no, AHAP, "names of keys are case-sensitive", '{"Version": 1.0, "pattern": [%s]}' % T)
    p("p-pattern-object", no, AHAP, "Pattern is an object", '{"Version": 1.0, "Pattern": {}}')
    p("p-pattern-null", no, AHAP, "Pattern is null", '{"Version": 1.0, "Pattern": null}')
    p("p-pattern-string", no, AHAP, "Pattern is a string", '{"Version": 1.0, "Pattern": "x"}')
    p("p-pattern-number", no, AHAP, "Pattern is a number", '{"Version": 1.0, "Pattern": 0}')
    p("p-root-array", no, AHAP, "the top is an array", "[%s]" % T)
    p("p-root-string", no, AHAP, "the top is a string", '"Pattern"')
    p("p-root-number", no, AHAP, "the top is a number", "1")
    p("p-root-null", no, AHAP, "the top is null", "null")
    p("p-root-empty-object", no, AHAP, "an empty object", "{}")
    for name, verdict, source, about, text in [
            ("metadata", ok, SAMPLE, "Metadata with texts", '"Metadata": {"Project": "x", "Created": "today"}'),
            ("metadata-nested", ok, AHAP, "unknown keys within Metadata", '"Metadata": {"a": [1, {"b": null}]}'),
            ("metadata-empty", ok, AHAP, "Metadata without members", '"Metadata": {}'),
            ("metadata-string", any_, CHOICE, "Metadata is a string", '"Metadata": "x"'),
            ("unknown-top", ok, AHAP, "an unknown key at the top", '"Extra": {"Deep": [1, 2, 3]}'),
            ("unknown-top-null", ok, AHAP, "an unknown key that holds null", '"Extra": null')]:
        p("p-" + name, verdict, source, about, file(T, head='"Version": 1.0, ' + text + ", "))
    p("p-unknown-in-event", ok, AHAP, "an unknown key in an event", event(A + ', "Colour": "red"'))
    p("p-name-in-event", ok, SAMPLE, "the key Name that editors write", event(A + ', "Name": "tap"'))
    p("p-unknown-in-parameter", ok, AHAP, "an unknown key in an event parameter",
      haptic('{"ParameterID": "HapticIntensity", "ParameterValue": 1, "Unit": "x"}'))
    p("p-unknown-in-control", ok, AHAP, "an unknown key in a dynamic parameter",
      control('"ParameterID": "%s", "ParameterValue": 1, "Time": 0, "x": 0' % I))
    p("p-unknown-in-point", ok, AHAP, "an unknown key in a control point",
      points('{"Time": 0, "ParameterValue": 1, "Shape": "linear"}'))
    p("p-unknown-in-curve", ok, AHAP, "an unknown key in a curve",
      line('"x": 1, "ParameterCurveControlPoints": [{"Time": 0, "ParameterValue": 1}]'))
    p("p-unknown-beside-event", ok, AHAP, "an unknown key beside Event", file(T[:-1] + ', "Note": 1}'))
    p("p-entry-empty", any_, CHOICE, "an entry without a key", file(T, "{}"))
    p("p-entry-misspelt", any_, CHOICE, "an entry ParameterCurves", file(T, '{"ParameterCurves": {}}'))
    p("p-entry-bare", any_, CHOICE, "an event that is not within Event", file(T, "{%s}" % A))
    p("p-entry-two", any_, CHOICE, "Event and Parameter in one entry", file(
        T[:-1] + ', "Parameter": {"ParameterID": "%s", "ParameterValue": 1, "Time": 0}}' % I))
    for kind, text in (("number", "1"), ("string", '"x"'), ("array", "[]"), ("null", "null"), ("boolean", "true")):
        p("p-entry-" + kind, no, CHOICE, "an entry is a %s" % kind, file(T, text))
        p("p-event-" + kind, any_ if kind == "null" else no, CHOICE, "Event is a %s" % kind, file(T, '{"Event": %s}' % text))
    p("p-event-empty", no, API, "an event needs a type and a time", event(""))
    p("p-type-missing", no, API, "an event without EventType", event('"Time": 0'))
    p("p-time-missing", no, API, "an event without Time", event('"EventType": "HapticTransient"'))
    p("p-time-lowercase", no, API, "time for Time", event('"time": 0, "EventType": "HapticTransient"'))
    for name, value in (("unknown", '"Rumble"'), ("lowercase", '"haptictransient"'), ("short", '"Transient"'),
                        ("empty", '""'), ("number", "3"), ("null", "null"), ("space", '"HapticTransient "'),
                        ("list", '["HapticTransient"]')):
        p("p-type-" + name, no, API, "EventType is %s" % value.replace('"', "'"), event('"Time": 0, "EventType": ' + value))
    p("p-type-escaped", ok, RFC, "an escaped letter in EventType", event('"Time": 0, "EventType": "\\u0048apticTransient"'))
    p("p-key-escaped", ok, RFC, "an escaped letter in a key", event('"\\u0054ime": 0, "EventType": "HapticTransient"'))
    for name, value, verdict, source in (
            ("negative", "-0.1", no, API), ("string", '"0.5"', no, API), ("null", "null", no, API),
            ("boolean", "true", any_, CHOICE), ("array", "[0]", no, API), ("negative-zero", "-0.0", ok, RFC),
            ("exponent", "1e-1", ok, RFC), ("exponent-upper", "1E+0", ok, RFC), ("integer", "2", ok, RFC),
            ("long-fraction", "0.200000000000000055511151231257827", ok, RFC), ("hour", "3600", ok, AHAP),
            ("huge", "1e300", any_, CHOICE), ("overflow", "1e400", any_, CHOICE), ("leading-zero", "01", no, RFC),
            ("plus", "+1", no, RFC), ("bare-point", ".5", no, RFC), ("end-point", "1.", no, RFC), ("hex", "0x10", no, RFC),
            ("nan", "NaN", no, RFC), ("infinity", "Infinity", no, RFC), ("tiny", "1e-320", ok, RFC),
            ("comma", "0,5", no, RFC)):
        p("p-time-" + name, verdict, source, "Time is " + value.replace('"', "'"),
          event('"Time": %s, "EventType": "HapticTransient"' % value))
    for name, value, verdict, source in (
            ("zero", "0", ok, SAMPLE), ("one", "1.0", ok, AHAP), ("negative", "-1", no, API), ("string", '"1"', no, API),
            ("null", "null", any_, CHOICE), ("array", "[]", no, API)):
        p("p-transient-duration-" + name, verdict, source, "EventDuration %s of a transient" % value.replace('"', "'"),
          event(A + ', "EventDuration": ' + value))
    for name, value, verdict, source in (
            ("missing", None, ok, API), ("zero", "0", ok, API), ("30", "30", ok, AHAP), ("31", "31", any_, CHOICE),
            ("negative", "-0.001", no, API), ("string", '"1"', no, API), ("nan", "nan", no, RFC)):
        p("p-continuous-duration-" + name, verdict, source, "EventDuration %s of a continuous event" % (value or "missing"),
          event(C + (', "EventDuration": ' + value if value else "")))
    p("p-duration-key", ok, AHAP, "Duration is an unknown key", event(A + ', "Duration": 1'))
    for name, text, verdict in (("empty", "[]", ok), ("object", "{}", no), ("null", "null", any_), ("string", '"x"', no)):
        p("p-parameters-" + name, verdict, AHAP if verdict == ok else API if verdict == no else CHOICE,
          "EventParameters is " + text.replace('"', "'"), event(A + ', "EventParameters": ' + text))
    for name, text, verdict, source in (
            ("number", "3", no, API), ("empty", "{}", no, API), ("no-value", '{"ParameterID": "HapticIntensity"}', no, API),
            ("no-id", '{"ParameterValue": 1}', no, API), ("id-number", '{"ParameterID": 1, "ParameterValue": 1}', no, API),
            ("value-key", '{"ParameterID": "HapticIntensity", "Value": 1}', no, API),
            ("unknown", '{"ParameterID": "HapticReleaseTime", "ParameterValue": 0.5}', any_, CHOICE),
            ("dynamic", '{"ParameterID": "HapticIntensityControl", "ParameterValue": 1}', any_, CHOICE),
            ("not-applicable", '{"ParameterID": "AudioPan", "ParameterValue": 1}', any_, CHOICE),
            ("twice", HI % 0.1 + ", " + HI % 0.9, any_, CHOICE), ("value-string", HI % '"1"', no, API),
            ("value-null", HI % "null", no, API), ("value-boolean", HI % "true", any_, CHOICE),
            ("value-above", HI % "1.5", ok, AHAP), ("value-below", HI % "-3", ok, AHAP), ("value-huge", HI % "1e300", ok, AHAP),
            ("value-tiny", HI % "1e-300", ok, AHAP), ("value-nan", HI % "NaN", no, RFC)):
        p("p-parameter-" + name, verdict, source, "an event parameter: " + text.replace('"', "'"), haptic(text))
    for name, text, verdict, source in (
            ("no-time", '"ParameterID": "%s", "ParameterValue": 1' % I, no, API),
            ("no-id", '"Time": 0, "ParameterValue": 1', no, API), ("no-value", '"ParameterID": "%s", "Time": 0' % I, no, API),
            ("negative", '"ParameterID": "%s", "ParameterValue": 1, "Time": -1' % I, no, CHOICE),
            ("above", '"ParameterID": "%s", "ParameterValue": 7, "Time": 0' % I, ok, AHAP),
            ("event-id", '"ParameterID": "HapticIntensity", "ParameterValue": 1, "Time": 0', any_, CHOICE),
            ("late", '"ParameterID": "%s", "ParameterValue": 1, "Time": 99' % I, ok, AHAP)):
        p("p-control-" + name, verdict, source, "a dynamic parameter: " + text.replace('"', "'"), control(text))
    for name in ("HapticIntensity", "HapticSharpness", "HapticAttackTime", "HapticDecayTime", "HapticReleaseTime",
                 "AudioVolume", "AudioPan", "AudioBrightness", "AudioPitch", "AudioAttackTime", "AudioDecayTime",
                 "AudioReleaseTime"):
        p("p-control-id-" + name.lower(), ok, API, name + "Control", control(
            '"ParameterID": "%sControl", "ParameterValue": 0.5, "Time": 0' % name))
    many = lambda n: ", ".join('{"Time": %s, "ParameterValue": %s}' % (k / 100, k % 2) for k in range(n))
    for n, verdict, source in ((0, any_, CHOICE), (1, ok, AHAP), (2, ok, AHAP), (16, ok, AHAP), (17, any_, CHOICE),
                               (75, ok, SAMPLE), (1000, any_, CHOICE)):
        p("p-points-%d" % n, verdict, source, "a curve of %d control points" % n, points(many(n)))
    for name, text, verdict, source in (
            ("unsorted", '{"Time": 1, "ParameterValue": 1}, {"Time": 0, "ParameterValue": 0}', any_, CHOICE),
            ("equal", '{"Time": 1, "ParameterValue": 1}, {"Time": 1, "ParameterValue": 0}', ok, AHAP),
            ("negative", '{"Time": -1, "ParameterValue": 1}', no, CHOICE), ("no-time", '{"ParameterValue": 1}', no, API),
            ("no-value", '{"Time": 1}', no, API), ("number", "2", no, API), ("null", "null", no, API),
            ("for-ever", '{"Time": 0, "ParameterValue": 1}, {"Time": 3.4e38, "ParameterValue": 1}', ok, SAMPLE)):
        p("p-point-" + name, verdict, source, "control points: " + text.replace('"', "'"), points(text))
    p("p-curve-no-points", no, API, "a curve without ParameterCurveControlPoints", line('"x": 1'))
    p("p-curve-points-object", no, API, "control points in an object", line('"ParameterCurveControlPoints": {}'))
    p("p-curve-no-id", no, API, "a curve without ParameterID",
      file(T, '{"ParameterCurve": {"Time": 0, "ParameterCurveControlPoints": []}}'))
    p("p-curve-no-time", no, API, "a curve without Time",
      file(T, '{"ParameterCurve": {"ParameterID": "%s", "ParameterCurveControlPoints": []}}' % I))
    p("p-curve-only", any_, CHOICE, "a curve and no event", file(json.dumps(curve(I, 0, (0, 1)))))
    for name, more, verdict, source in (
            ("no-path", "", no, API), ("path-empty", ', "EventWaveformPath": ""', no, API),
            ("path-number", ', "EventWaveformPath": 5', no, API),
            ("path-leaves", ', "EventWaveformPath": "../../x.wav"', any_, CHOICE),
            ("path-absolute", ', "EventWaveformPath": "/x.wav"', any_, CHOICE),
            ("loop-text", ', "EventWaveformPath": "a.wav", "EventWaveformLoopEnabled": "yes"', no, API)):
        p("p-custom-" + name, verdict, source, "AudioCustom: " + (more[2:].replace('"', "'") or "no path"), sound(more))
    p("p-audio-continuous", ok, API, "AudioContinuous", event('"Time": 0, "EventType": "AudioContinuous", "EventDuration": 1'))
    # The text as such.
    good = file(T)
    p("p-bom", any_, RFC, "a byte-order mark before UTF-8; a parser may ignore it", b"\xef\xbb\xbf" + good.encode())
    p("p-crlf", ok, RFC, "lines end with CR LF", good.replace(", ", ",\r\n"))
    p("p-cr", ok, RFC, "lines end with CR", good.replace(", ", ",\r"))
    p("p-tabs", ok, RFC, "tabs between tokens", good.replace(" ", "\t"))
    p("p-one-line", ok, RFC, "no space at all", good.replace(" ", "").strip())
    p("p-space-around", ok, RFC, "white space before and behind", "\n\n \t" + good + "\n\n")
    p("p-trailing-comma-array", ok, SAMPLE, "a comma behind the last entry", file(T + ","))
    p("p-trailing-comma-object", ok, SAMPLE, "a comma behind the last member", event(A + ","))
    p("p-two-commas", no, RFC, "two commas in a row", file(T + ",", T))
    p("p-missing-comma", no, RFC, "no comma between entries", good.replace("[" + T, "[" + T + " " + T))
    p("p-comment-line", no, RFC, "a comment //", "// x\n" + good)
    p("p-comment-block", no, RFC, "a comment /* */", good.replace("[", "[ /* x */ ", 1))
    p("p-single-quotes", no, RFC, "single quotes", good.replace('"', "'"))
    p("p-bare-keys", no, RFC, "keys without quotes", good.replace('"Time"', "Time"))
    p("p-truncated", no, RFC, "the last bracket is missing", good.strip()[:-1])
    p("p-cut-in-string", no, RFC, "the text ends in a string", good[:good.index("Haptic") + 3])
    p("p-behind-end", no, RFC, "a second value behind the first", good + "{}")
    p("p-empty-file", no, RFC, "no bytes", b"")
    p("p-blank-file", no, RFC, "white space alone", b" \n")
    p("p-binary", no, RFC, "bytes of no text", bytes(range(128, 200)))
    p("p-nul", no, RFC, "NUL between tokens", good.encode().replace(b" ", b"\0", 1))
    p("p-invalid-utf8", any_, RFC, "bytes in Metadata that are not UTF-8",
      good.encode().replace(b'"Pattern"', b'"Metadata": {"Project": "\xff\xfe"}, "Pattern"'))
    p("p-unicode", ok, RFC, "letters beyond ASCII in Metadata", file(T, head='"Version": 1, "Metadata": {"Project": "地震 😀"}, '))
    p("p-surrogates", ok, RFC, "an escaped surrogate pair", file(T, head='"Metadata": {"Project": "\\ud83d\\ude00"}, '))
    p("p-lone-surrogate", any_, RFC, "an escaped lone surrogate", file(T, head='"Metadata": {"Project": "\\ud800"}, '))
    p("p-bad-escape", no, RFC, "an escape that does not exist", file(T, head='"Metadata": {"Project": "\\x41"}, '))
    p("p-control-character", no, RFC, "a line break in a string", file(T, head='"Metadata": {"Project": "a\nb"}, '))
    p("p-utf16", any_, CHOICE, "UTF-16 with a mark", good.encode("utf-16"))
    p("p-deep-200", ok, RFC, "an unknown key nested 200 deep", file(T, head='"x": %s%s, ' % ("[" * 200, "]" * 200)))
    p("p-deep-20000", any_, RFC, "nested 20,000 deep: no crash", file(T, head='"x": %s%s, ' % ("[" * 20000, "]" * 20000)))
    p("p-duplicate-time", any_, RFC, "Time twice in an event", event('"Time": 1, ' + A))
    p("p-duplicate-pattern", any_, RFC, "Pattern twice", '{"Version": 1.0, "Pattern": [], "Pattern": [%s]}' % T)
    p("p-entries-1000", ok, AHAP, "1,000 entries", file(*[T.replace('"Time": 0', '"Time": %d' % k) for k in range(1000)]))


# ---------------------------------------------------------------------------------------------------------- model/
MODEL = []
DEFAULTS = {"HapticTransient": (0.75, 0.5), "HapticContinuous": (0.6, 0.422601)}
LIMITS = {I: (0.0, 1.0), S: (-1.0, 1.0)}


def law(entries, name, t):
    """The value of a control at a time, straight from the rules: the later start wins; a curve is linear between points."""
    low, high = LIMITS[name]
    clamp = lambda v: min(max(v, low), high)
    best, value = None, 1.0 if name == I else 0.0
    for place, entry in enumerate(entries):
        for kind in ("Parameter", "ParameterCurve"):
            one = entry.get(kind)
            if not one or one["ParameterID"] != name or one["Time"] > t:
                continue
            rank = (one["Time"], kind == "ParameterCurve", place)
            if best and best > rank:
                continue
            if kind == "Parameter":
                best, value = rank, clamp(one["ParameterValue"])
                continue
            points = sorted(((one["Time"] + q["Time"], clamp(q["ParameterValue"])) for q in one["ParameterCurveControlPoints"]),
                            key=lambda q: q[0])
            if not points:
                continue
            best, value = rank, points[0][1]
            for (a, u), (b, v) in zip(points, points[1:]):
                if t >= b:
                    value = v
                elif t >= a:
                    value = u + (v - u) * (t - a) / (b - a)
    return value


def corners(entries, event):
    """Corners of an event: time, intensity, sharpness; two at one time where a value jumps."""
    kind = event["EventType"]
    given = {q["ParameterID"]: q["ParameterValue"] for q in event.get("EventParameters", [])}
    clamp = lambda v: min(max(v, 0.0), 1.0)
    i = clamp(given.get("HapticIntensity", DEFAULTS[kind][0]))
    s = clamp(given.get("HapticSharpness", DEFAULTS[kind][1]))
    start = event["Time"]
    end = start if kind == "HapticTransient" else start + event.get("EventDuration", 30.0)
    felt = lambda t: (i * law(entries, I, t), clamp(s + law(entries, S, t)))
    row = [start, *felt(start)]
    if end > start:
        times = set()
        for entry in entries:
            one = entry.get("Parameter") or entry.get("ParameterCurve")
            if one:
                times.add(one["Time"])
                times.update(one["Time"] + q["Time"] for q in one.get("ParameterCurveControlPoints", []))
        inner = sorted({start, end} | {t for t in times if start < t < end})
        tiny = 1e-9
        for a, b in zip(inner, inner[1:]):
            # Where the sum of sharpness reaches a bound within a straight part.
            raw = lambda t: s + law(entries, S, t)
            u, v = raw(a), raw(b - min(tiny, (b - a) / 2))
            cuts = sorted(a + (b - a) * (edge - u) / (v - u) for edge in (0.0, 1.0) if (u - edge) * (v - edge) < 0)
            for t in cuts:
                row += [t, *felt(t)]
            row += [b, *felt(b - tiny)]
            if b < end and max(abs(x - y) for x, y in zip(felt(b - tiny), felt(b))) > 1e-6:
                row += [b, *felt(b)]
    return {"kind": kind, "end": round(end, 9), "corners": [round(x, 7) for x in row]}


def m(name, source, about, *entries):
    events = [corners(entries, e["Event"]) for e in entries
              if "Event" in e and e["Event"]["EventType"] in DEFAULTS]
    MODEL.append(({"id": name, "confidence": confidence(source), "source": source, "about": about, "events": events}, ahap(*entries)))


def model_cases():
    h = hum(0, 1, 0.8, 0.4)
    m("m-transient", AHAP, "a transient with both values", tap(0.1, 0.9, 0.7))
    m("m-transient-defaults", UNITY, "defaults of a transient", tap(0))
    m("m-continuous", AHAP, "a continuous event with both values", hum(0.1, 0.5, 0.9, 0.7))
    m("m-continuous-defaults", UNITY, "defaults of a continuous event", hum(0, 0.5))
    m("m-only-intensity", UNITY, "sharpness missing", hum(0, 0.5, 0.3), tap(0.2, 0.3))
    m("m-only-sharpness", UNITY, "intensity missing", hum(0, 0.5, None, 0.3), tap(0.2, None, 0.3))
    m("m-intensity-0", AHAP, "intensity 0 is active and silent", hum(0, 0.5, 0, 0.3), tap(0.2, 0, 0.3))
    for value in (-0.5, 1.0, 1.003, 1.5, 1685.2):
        m("m-clamp-intensity-%g" % value, AHAP, "values are clamped to 0...1", hum(0, 0.3, value, 0.5), tap(0.1, value, 0.5))
        m("m-clamp-sharpness-%g" % value, AHAP, "values are clamped to 0...1", hum(0, 0.3, 0.5, value), tap(0.1, 0.5, value))
    m("m-transient-duration", API, "EventDuration of a transient does not lengthen it", tap(0.1, 1, 1, EventDuration=1.0))
    m("m-duration-0", API, "a continuous event of no length", hum(0.1, 0, 1, 1), tap(0.2, 1, 1))
    m("m-duration-missing", CHOICE, "a continuous event without duration lasts 30 s", hum(0.1, None, 1, 1))
    m("m-overlap", AHAP, "two continuous events overlap: both are active", hum(0, 0.6, 0.5, 0.2), hum(0.3, 0.6, 0.7, 0.9))
    m("m-three-at-once", AHAP, "three at one time", hum(0, 0.2, 0.1, 0.1), hum(0, 0.2, 0.2, 0.2), tap(0, 0.3, 0.3))
    m("m-equal-events", AHAP, "the same event twice counts twice", hum(0, 0.2, 0.5, 0.5), hum(0, 0.2, 0.5, 0.5))
    m("m-adjacent", AHAP, "one ends where the next begins", hum(0, 0.2, 0.5, 0.5), hum(0.2, 0.2, 0.9, 0.1))
    m("m-unsorted", AHAP, "events in any order", hum(0.5, 0.2, 0.5, 0.5), tap(0, 1, 1), hum(0.1, 0.2, 0.9, 0.1))
    m("m-late", AHAP, "an event at an hour", hum(3600, 0.1, 0.5, 0.5))
    m("m-off-grid", AHAP, "times between milliseconds", hum(0.0123456, 0.200007, 0.5, 0.5), tap(1 / 3, 0.1, 0.2))
    m("m-audio", AHAP, "audio events are not haptic", h, {"Event": {"Time": 0, "EventType": "AudioContinuous", "EventDuration": 2}})
    m("m-duplicate-parameter", CHOICE, "the last of two equal parameters counts",
      with_values(hum(0, 0.2, 0.2, 0.5), HapticIntensity=0.9))
    m("m-duration-key", AHAP, "Duration is unknown: EventDuration counts", hum(0, 0.2, 0.5, 0.5, Duration=9))
    for value in (0, 0.25, 1):
        m("m-step-intensity-%g" % value, API, "a dynamic parameter steps and holds", h, step(I, 0.5, value))
    for value in (-1, -0.3, 0, 0.25, 1):
        m("m-step-sharpness-%g" % value, API, "sharpness control adds; the sum is clamped", h, step(S, 0.5, value))
    m("m-step-beyond", AHAP, "values of controls are clamped first", h, step(I, 0.2, 3), step(S, 0.4, -7), step(I, 0.6, -1))
    m("m-step-at-0", API, "a step at the start", h, step(I, 0, 0.5))
    m("m-step-before", API, "a step before the event holds", hum(0.5, 0.5, 0.8, 0.4), step(I, 0.2, 0.5), step(S, 0.1, 0.2))
    m("m-step-at-onset", API, "a step at the onset", hum(0.5, 0.5, 0.8, 0.4), step(I, 0.5, 0.5))
    m("m-step-behind", API, "a step behind the event has no effect", h, step(I, 2, 0.1))
    m("m-step-unsorted", API, "steps in any order", h, step(I, 0.7, 1), step(I, 0.3, 0.2), step(I, 0.5, 0.6))
    m("m-step-equal-times", CHOICE, "of two steps at one time the last of the file counts", h, step(I, 0.5, 0.2), step(I, 0.5, 0.9))
    m("m-step-both-controls", API, "intensity and sharpness step apart", h, step(I, 0.3, 0.5), step(S, 0.6, 0.5))
    m("m-step-two-events", API, "a step acts on every event", h, hum(0.2, 1, 0.4, 0.9), step(I, 0.5, 0.5), step(S, 0.7, 0.3))
    m("m-step-transient", API, "a step acts on later transients", tap(0, 0.8, 0.5), tap(0.5, 0.8, 0.5), tap(0.8, 0.8, 0.5),
      step(I, 0.4, 0.5), step(S, 0.6, 0.25))
    m("m-step-transient-at", CHOICE, "a transient takes the value at its onset", tap(0.5, 0.8, 0.5), step(I, 0.5, 0.5))
    m("m-step-transient-after", CHOICE, "a step just behind the onset does not change a transient", tap(0.5, 0.8, 0.5), step(I, 0.501, 0))
    m("m-step-audio", API, "controls of audio do not act on haptics", h, step("AudioVolumeControl", 0.2, 0), step("AudioBrightnessControl", 0, -1))
    m("m-step-hundred", API, "a hundred steps", h, *[step(I, k / 100, (k * 37 % 100) / 100) for k in range(100)])
    m("m-curve-ramp", API, "a straight line from 0 to 1", h, curve(I, 0, (0, 0), (1, 1)))
    m("m-curve-fall", API, "a straight line from 1 to 0", h, curve(I, 0, (0, 1), (1, 0)))
    m("m-curve-sharpness", API, "a line of sharpness", h, curve(S, 0, (0, -0.3), (1, 0.5)))
    m("m-curve-sharpness-clamped", API, "the sum is clamped at both bounds", h, curve(S, 0, (0, -1), (1, 1)))
    m("m-curve-sharpness-zigzag", API, "clamped again and again", h, curve(S, 0, *[(k / 10, 1 if k % 2 else -1) for k in range(11)]))
    m("m-curve-both", API, "both controls have curves with other points", h, curve(I, 0, (0, 0.2), (0.33, 1), (1, 0.5)), curve(S, 0.1, (0, 0), (0.5, 0.6)))
    m("m-curve-relative", API, "times of points count from the curve's start", hum(0.5, 1, 1, 0.5), curve(I, 0.5, (0, 0), (0.5, 1), (1, 0.25)))
    m("m-curve-relative-late", API, "a curve that begins within the event", h, curve(I, 0.4, (0, 0.9), (0.3, 0.1)))
    m("m-curve-before-event", API, "a curve that began before the event", hum(0.5, 0.5, 1, 0.5), curve(I, 0, (0, 0), (1, 1)))
    m("m-curve-ended", CHOICE, "the last value holds behind the last point", h, curve(I, 0, (0, 1), (0.3, 0.2)))
    m("m-curve-ended-before", CHOICE, "the last value holds for later events", hum(0.5, 0.5, 1, 0.5), tap(0.7, 1, 0.5), curve(I, 0, (0, 1), (0.3, 0.2)))
    m("m-curve-first-point-late", CHOICE, "before the first point: its value, from the start of the curve", h, curve(I, 0.2, (0.3, 0.5), (0.5, 1)))
    m("m-curve-neutral-before", CHOICE, "before a curve begins the control is neutral", h, curve(I, 0.5, (0, 0.2), (0.2, 0.4)))
    m("m-curve-one-point", CHOICE, "one point: a constant from the start of the curve", h, curve(I, 0.4, (0, 0.3)))
    m("m-curve-no-points", CHOICE, "no points: no effect", h, curve(I, 0.4))
    m("m-curve-equal-points", CHOICE, "two points at one time: a jump", h, curve(I, 0, (0, 1), (0.5, 1), (0.5, 0.2), (1, 0.2)))
    m("m-curve-equal-first", CHOICE, "two first points at one time: the later counts", h, curve(I, 0, (0, 1), (0, 0.5), (1, 0)))
    m("m-curve-three-equal", CHOICE, "three points at one time: the first and the last count", h, curve(I, 0, (0, 0), (0.5, 0.5), (0.5, 0.9), (0.5, 0.1), (1, 1)))
    m("m-curve-unsorted-points", CHOICE, "points in any order", h, curve(I, 0, (1, 0), (0, 0.1), (0.5, 1)))
    m("m-curve-clamped-points", AHAP, "values of points are clamped", h, curve(I, 0, (0, -1), (0.5, 2), (1, 0.5)))
    m("m-curve-16", API, "16 points", h, curve(I, 0, *[(k / 15, (k * 7 % 16) / 15) for k in range(16)]))
    m("m-curve-17", CHOICE, "17 points", h, curve(I, 0, *[(k / 16, (k * 7 % 17) / 16) for k in range(17)]))
    m("m-curve-500", CHOICE, "500 points", h, curve(I, 0, *[(k / 500, 0.5 + 0.5 * math.sin(k / 20)) for k in range(500)]))
    m("m-curve-for-ever", SAMPLE, "a last point beyond every pattern", h, curve(I, 0, (0, 0.5), (3.4e38, 1)))
    m("m-curve-transient", CHOICE, "curves bend transients", tap(0.25, 0.8, 0.5), tap(0.75, 0.8, 0.5), curve(I, 0, (0, 0), (1, 1)), curve(S, 0, (0, -0.5), (1, 0.5)))
    m("m-curve-transient-jump", CHOICE, "a transient at a jump takes the value behind it", tap(0.5, 0.8, 0.5), curve(I, 0, (0, 1), (0.5, 1), (0.5, 0.2)))
    m("m-curves-chain", CHOICE, "one curve ends where the next begins", h, curve(I, 0, (0, 0), (0.5, 1)), curve(I, 0.5, (0, 1), (0.5, 0)))
    m("m-curves-gap", CHOICE, "between two curves the last value of the first holds", h, curve(I, 0, (0, 0), (0.2, 0.5)), curve(I, 0.6, (0, 1), (0.2, 0)))
    m("m-curves-overlap", CHOICE, "the later start wins for good", h, curve(I, 0, (0, 0), (1, 1)), curve(I, 0.4, (0, 0.9), (0.2, 0.1)))
    m("m-curves-overlap-order", CHOICE, "the order in the file does not matter", h, curve(I, 0.4, (0, 0.9), (0.2, 0.1)), curve(I, 0, (0, 0), (1, 1)))
    m("m-curves-equal-start", CHOICE, "of two curves that begin together the last of the file counts", h, curve(I, 0.2, (0, 0.1), (0.5, 0.2)), curve(I, 0.2, (0, 0.9), (0.5, 0.6)))
    m("m-curves-two-controls", API, "curves of two controls do not end each other", h, curve(I, 0, (0, 0), (1, 1)), curve(S, 0.5, (0, 0.5), (0.5, -0.4)))
    m("m-curve-then-step", CHOICE, "a step ends a curve", h, curve(I, 0, (0, 0), (1, 1)), step(I, 0.5, 0.3))
    m("m-step-then-curve", CHOICE, "a curve replaces a step from its start", h, step(I, 0.2, 0.3), curve(I, 0.5, (0, 1), (0.3, 0.5)))
    m("m-step-and-curve-together", CHOICE, "at one time the curve wins", h, step(I, 0.3, 0.9), curve(I, 0.3, (0, 0.1), (0.3, 0.5)))
    m("m-curve-and-step-together", CHOICE, "at one time the curve wins, whatever stands first", h, curve(I, 0.3, (0, 0.1), (0.3, 0.5)), step(I, 0.3, 0.9))
    m("m-step-in-gap", CHOICE, "a step between two curves", h, curve(I, 0, (0, 0), (0.2, 1)), step(I, 0.4, 0.5), curve(I, 0.7, (0, 0.2), (0.2, 0.9)))
    m("m-curve-two-events", API, "a curve acts on every event", h, hum(0.3, 0.9, 0.5, 0.1), curve(I, 0, (0, 0.2), (1.2, 1)), curve(S, 0.2, (0, 0), (0.5, 0.5)))
    m("m-curve-off-grid", API, "a curve between milliseconds", hum(0.0101, 0.5, 1, 0.5), curve(I, 0.01234, (0, 0), (0.12345, 1), (0.31313, 0.3)))
    m("m-curve-steep", API, "from 0 to 1 in 2 ms", h, curve(I, 0.5, (0, 0), (0.002, 1)))
    m("m-curve-key-order", RFC, "Time of a curve behind its points", h, {"ParameterCurve": dict(reversed(list(curve(I, 0.2, (0, 0), (0.5, 1))["ParameterCurve"].items())))})
    m("m-envelope-ignored", CHOICE, "attack and release shape the signal, not intensity", with_values(hum(0, 0.5, 0.8, 0.4), AttackTime=0.3, ReleaseTime=0.4))
    m("m-not-sustained", CHOICE, "an event with Sustained 0 is active for its duration", with_values(hum(0, 0.5, 0.8, 0.4), Sustained=0, DecayTime=0.2))
    # Chance, from a written generator: the law on patterns nobody thought of.
    state = 20260101

    def chance():
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        return (state >> 33) / 2 ** 31

    for k in range(20):
        some = [hum(round(chance(), 3), round(0.2 + chance(), 3), round(chance(), 3), round(chance(), 3)) for _ in range(1 + int(chance() * 3))]
        some += [tap(round(2 * chance(), 3), round(chance(), 3), round(chance(), 3)) for _ in range(int(chance() * 4))]
        for _ in range(int(chance() * 4)):
            some.append(step(I if chance() < 0.5 else S, round(1.5 * chance(), 3), round(chance() * 1.4 - 0.2, 3)))
        for _ in range(int(chance() * 4)):
            times = sorted({round(chance(), 3) for _ in range(1 + int(chance() * 6))})
            # A first point at the curve's own start: its absolute reading is no other.
            start = round(1 + chance(), 3) if chance() < 0.2 else round(chance() / 2, 3)
            some.append(curve(I if chance() < 0.5 else S, start, (0, round(chance(), 3)), *[(t, round(chance() * 1.4 - 0.2, 3)) for t in times if t > 0]))
        m("m-chance-%02d" % (k + 1), CHOICE, "a pattern made by chance", *some)


# --------------------------------------------------------------------------------------------------------- render/
RENDER = []
PHONE = {"low": 80, "high": 230, "scale": "logarithmic", "exponent": 2, "level": 0.4}
LINEAR = {"low": 60, "high": 300, "scale": "linear", "exponent": 1, "level": 0.4}
FIXED = {"low": 150, "high": 150, "scale": "linear", "exponent": 1, "level": 0.25}


def hertz(mapping, s):
    low, high = mapping["low"], mapping["high"]
    return low * (high / low) ** s if mapping["scale"] == "logarithmic" else low + (high - low) * s


def level(mapping, i):
    return mapping["level"] * i ** mapping["exponent"]


def r(name, source, about, mapping, entries, *checks):
    RENDER.append(({"id": name, "confidence": confidence(source), "source": source,
                    "about": about, "mapping": mapping, "checks": list(checks)}, ahap(*entries)))


def tone(mapping, a, b, i, s):
    """Frequency and level between two times."""
    return [{"check": "frequency", "from": a, "to": b, "hertz": round(hertz(mapping, s), 4)},
            {"check": "level", "from": a, "to": b, "hertz": round(hertz(mapping, s), 4), "amplitude": round(level(mapping, i), 7)}]


def onset(t):
    return {"check": "onset", "time": t}


def silent(t, until=None):
    return {"check": "silence", "from": t, **({"to": until} if until else {})}


def corridor(mapping, s, *points):
    """Amplitudes over time, lines between, within 0.5 dB and 1 % of the mapping's level."""
    return {"check": "envelope", "hertz": round(hertz(mapping, s), 4), "points": [[t, round(a, 7)] for t, a in points],
            "floor": mapping["level"] / 100}


def smooth(mapping, s, peak):
    """No step greater than that of the steepest wave with an edge of 1 ms, a tenth more."""
    return {"check": "step", "most": round(1.1 * peak * (2 * math.pi * hertz(mapping, s) + 1000) / 48000, 7)}


def render_cases():
    for label, mapping in (("phone", PHONE), ("linear", LINEAR), ("fixed", FIXED)):
        for s in (0, 0.25, 0.5, 0.75, 1):
            r("r-%s-sharpness-%g" % (label, s), API, "sharpness becomes frequency by the mapping", mapping, [hum(0.1, 0.5, 0.9, s)],
              onset(0.1), *tone(mapping, 0.15, 0.55, 0.9, s), silent(0, 0.09), silent(0.61), smooth(mapping, s, level(mapping, 0.9)))
        for i in (0.1, 0.3, 0.5, 0.7, 1):
            r("r-%s-intensity-%g" % (label, i), API, "intensity becomes amplitude by the mapping", mapping, [hum(0.05, 0.4, i, 0.5)],
              *tone(mapping, 0.1, 0.4, i, 0.5), silent(0.47))
    r("r-defaults", UNITY, "default sharpness and intensity", PHONE, [hum(0, 0.5)], *tone(PHONE, 0.05, 0.45, 0.6, 0.422601))
    r("r-onset-off-grid", AHAP, "an onset between milliseconds", PHONE, [hum(0.12345, 0.3, 1, 0.5)], onset(0.12345), silent(0.44))
    r("r-onset-zero", AHAP, "an onset at once", PHONE, [hum(0, 0.3, 1, 1)], onset(0))
    r("r-transient-onset", CHOICE, "a transient begins at its time and is over in 50 ms", PHONE, [tap(0.2, 1, 0.5)], onset(0.2), silent(0.25), silent(0, 0.19))
    r("r-transients-apart", CHOICE, "two transients and nothing between", PHONE, [tap(0.1, 1, 0.5), tap(0.3, 1, 0.5)], onset(0.1), silent(0.15, 0.29), silent(0.36))
    r("r-transient-silent", API, "a transient of intensity 0 is not felt", PHONE, [tap(0.1, 0, 0.5), hum(0.3, 0.1, 0.5, 0.5)], silent(0, 0.29), onset(0.3))
    r("r-silence-between", AHAP, "silence between two events", PHONE, [hum(0, 0.2, 1, 0.5), hum(0.5, 0.2, 1, 0.5)], silent(0.25, 0.49), *tone(PHONE, 0.55, 0.68, 1, 0.5))
    r("r-step-intensity", API, "a step of intensity control", PHONE, [hum(0, 1, 1, 0.5), step(I, 0.5, 0.5)], *tone(PHONE, 0.05, 0.48, 1, 0.5), *tone(PHONE, 0.53, 0.95, 0.5, 0.5), smooth(PHONE, 0.5, level(PHONE, 1)))
    r("r-step-sharpness", API, "a step of sharpness control", PHONE, [hum(0, 1, 0.8, 0.2), step(S, 0.5, 0.5)], *tone(PHONE, 0.05, 0.48, 0.8, 0.2), *tone(PHONE, 0.53, 0.95, 0.8, 0.7), smooth(PHONE, 0.7, level(PHONE, 0.8)))
    r("r-step-silence", API, "intensity control 0 silences", PHONE, [hum(0, 1, 1, 0.5), step(I, 0.4, 0), step(I, 0.7, 1)], silent(0.42, 0.69), *tone(PHONE, 0.75, 0.95, 1, 0.5))
    r("r-curve-fade-linear", API, "a fade under an exponent of 1 is a straight line", FIXED, [hum(0, 1, 1, 0.5), curve(I, 0, (0, 1), (1, 0))], corridor(FIXED, 0.5, (0.05, level(FIXED, 0.95)), (0.95, level(FIXED, 0.05))), silent(1.02))
    r("r-curve-fade-square", API, "a fade under an exponent of 2 is a square", PHONE, [hum(0, 1, 1, 0.5), curve(I, 0, (0, 1), (1, 0))], corridor(PHONE, 0.5, *[(t / 20, level(PHONE, 1 - t / 20)) for t in range(1, 20)]), silent(1.02))
    r("r-curve-triangle", API, "up and down", FIXED, [hum(0, 1, 1, 0.5), curve(I, 0, (0, 0), (0.5, 1), (1, 0))], corridor(FIXED, 0.5, (0.05, level(FIXED, 0.1)), (0.48, level(FIXED, 0.96))), corridor(FIXED, 0.5, (0.52, level(FIXED, 0.96)), (0.95, level(FIXED, 0.1))))
    r("r-curve-glide", API, "a glide holds its frequency at each time", LINEAR, [hum(0, 2, 0.8, 0), curve(S, 0, (0, 0), (2, 1))], *[{"check": "frequency", "from": t - 0.05, "to": t + 0.05, "hertz": round(hertz(LINEAR, t / 2), 3)} for t in (0.25, 0.5, 1, 1.5, 1.75)], smooth(LINEAR, 1, level(LINEAR, 0.8)))
    r("r-two-tones", AHAP, "two events at once add", FIXED, [hum(0, 0.5, 0.5, 0.5), hum(0, 0.5, 1, 0.5)], *tone(FIXED, 0.05, 0.45, 1.5, 0.5))
    r("r-clamped", AHAP, "values beyond the range", PHONE, [hum(0, 0.5, 7, 9)], *tone(PHONE, 0.05, 0.45, 1, 1))
    r("r-duration-0", API, "a continuous event of no length is silent", PHONE, [hum(0.1, 0, 1, 1), hum(0.4, 0.1, 1, 0)], silent(0, 0.39), onset(0.4))
    seconds = lambda n: 2 * (100 ** n - 1) / 99
    a = seconds(0.5)
    r("r-attack", CHOICE, "an attack of 0.5 rises for 2 s (100^n - 1) / 99", FIXED, [with_values(hum(0, 0.5, 1, 0.5), AttackTime=0.5)], corridor(FIXED, 0.5, (0.02, 0.25 * 0.02 / a), (a - 0.01, 0.25 * (a - 0.01) / a)), corridor(FIXED, 0.5, (a + 0.01, 0.25), (0.49, 0.25)))
    r("r-release", CHOICE, "a release of 0.5 falls behind the end", FIXED, [with_values(hum(0, 0.3, 1, 0.5), ReleaseTime=0.5)], corridor(FIXED, 0.5, (0.02, 0.25), (0.29, 0.25)), corridor(FIXED, 0.5, (0.31, 0.25 * (1 - 0.01 / a)), (0.28 + a, 0.25 * 0.02 / a)), silent(0.32 + a))
    r("r-decay", CHOICE, "Sustained 0: a decay of 0.5 falls from the onset", FIXED, [with_values(hum(0, 0.5, 1, 0.5), Sustained=0, DecayTime=0.5)], corridor(FIXED, 0.5, (0.02, 0.25 * (1 - 0.02 / a)), (a - 0.02, 0.25 * 0.02 / a)), silent(a + 0.02))


def write(path, data):
    with open(os.path.join(HERE, path), "wb") as out:
        out.write(data if isinstance(data, bytes) else data.encode())


if __name__ == "__main__":
    parse_cases(), model_cases(), render_cases()
    vendors = {"haptic": generate_vendors.haptic_cases(), "android": generate_vendors.android_cases()}
    for folder in ("parse", "model", "render", *vendors):
        os.makedirs(os.path.join(HERE, folder), exist_ok=True)
        for old in os.listdir(os.path.join(HERE, folder)):
            os.remove(os.path.join(HERE, folder, old))
    clean = lambda s: s.replace("\t", " ").replace("\n", " ")
    write("parse/cases.tsv", "".join("\t".join(map(clean, row)) + "\n" for row in
                                     [("id", "verdict", "confidence", "source", "about")] + [row[:5] for row in PARSE]))
    for row in PARSE:
        write("parse/%s.ahap" % row[0], row[5])
    for folder, cases in (("model", MODEL), ("render", RENDER), *vendors.items()):
        ending = ENDINGS.get(folder, "ahap")
        write(folder + "/cases.jsonl", "".join(json.dumps(case) + "\n" for case, _ in cases))
        for case, text in cases:
            write("%s/%s.%s" % (folder, case["id"], ending), text)
    names = [row[0] for row in PARSE] + [case["id"] for case, _ in MODEL + RENDER + vendors["haptic"] + vendors["android"]]
    assert len(names) == len(set(names)), [n for n in names if names.count(n) > 1]
    print(len(PARSE), len(MODEL), len(RENDER), *map(len, vendors.values()), len(names))
