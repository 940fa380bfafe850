"""The cases of the folders haptic/ and android/: files of Meta's `.haptic` format and Android's vibration XML.

Verdicts follow from the vendors' own readers: the validation of the Meta Haptics SDK (facebook/meta-haptics-sdk, 41c9dcb), and
Android's parser up to API 36 (platform/frameworks/base, core/java/com/android/internal/vibrator/persistence). Amplitudes
follow from the vendors' documents."""
import json

SDK, DOCUMENT, AOSP, JSON_RFC, XML, CHOICE = "meta-sdk", "meta-format", "aosp-parser", "rfc8259", "xml-1.0", "choice"
ACCEPT, REFUSE, EITHER = "accept", "refuse", "either"


def case(table, name, verdict, source, about, content, points=None, taps=None):
    """Adds a case. `points` are times in seconds and amplitudes from 0 to 1, linear between them; `taps` are the times and
    amplitudes of short emphases."""
    entry = {"id": name, "verdict": verdict, "confidence": "decided" if source == CHOICE else "documented",
             "source": source, "about": about}
    if points is not None:
        entry["points"] = points
    if taps is not None:
        entry["taps"] = taps
    table.append((entry, content if isinstance(content, bytes) else content.encode()))


# -------------------------------------------------------------------------------------------------------- haptic/

VERSION = '{"major": 1, "minor": 0, "patch": 0}'
TWO_POINTS = '[{"time": 0, "amplitude": 0.5}, {"time": 0.5, "amplitude": 0.5}]'


def clip(amplitude=TWO_POINTS, frequency=None, version=VERSION, more="", envelopes=""):
    """A `.haptic` file from the texts of its parts."""
    frequency = "" if frequency is None else ', "frequency": ' + frequency
    return ('{"version": %s, "signals": {"continuous": {"envelopes": {"amplitude": %s%s%s}}}%s}\n'
            % (version, amplitude, frequency, envelopes, more))


def breakpoints(*values, key="amplitude"):
    return json.dumps([{"time": time, key: value} for time, value in values])


def emphasis(time, amplitude, emphasized, frequency):
    return {"time": time, "amplitude": amplitude, "emphasis": {"amplitude": emphasized, "frequency": frequency}}


def haptic_cases():
    table = []

    def h(name, verdict, source, about, content, points=None, taps=None):
        case(table, "h-" + name, verdict, source, about, content, points, taps)

    flat = [[0, 0.5], [0.5, 0.5]]
    h("smallest", ACCEPT, SDK, "two amplitude breakpoints without metadata", clip(), flat)
    h("ramp", ACCEPT, DOCUMENT, "amplitudes are linear between breakpoints", clip(breakpoints((0, 0), (1, 1))), [[0, 0], [1, 1]])
    h("triangle", ACCEPT, DOCUMENT, "three breakpoints", clip(breakpoints((0, 0.1), (0.25, 0.9), (0.75, 0))),
      [[0, 0.1], [0.25, 0.9], [0.75, 0]])
    h("step", ACCEPT, SDK, "two breakpoints at the same time are a step",
      clip(breakpoints((0, 0.2), (0.3, 0.2), (0.3, 0.8), (0.6, 0.8))), [[0, 0.2], [0.3, 0.2], [0.3, 0.8], [0.6, 0.8]])
    h("late-start", ACCEPT, SDK, "the first breakpoint is after the start", clip(breakpoints((0.4, 0.5), (0.8, 0.5))),
      [[0.4, 0.5], [0.8, 0.5]])
    h("silence-inside", ACCEPT, DOCUMENT, "silence between two sections",
      clip(breakpoints((0, 0.6), (0.2, 0.6), (0.2, 0), (0.5, 0), (0.5, 0.6), (0.7, 0.6))),
      [[0, 0.6], [0.2, 0.6], [0.2, 0], [0.5, 0], [0.5, 0.6], [0.7, 0.6]])
    h("full-range", ACCEPT, SDK, "amplitudes 0 and 1 are within the range", clip(breakpoints((0, 1), (0.2, 0))), [[0, 1], [0.2, 0]])
    h("frequency", ACCEPT, DOCUMENT, "a frequency envelope of the same length",
      clip(frequency=breakpoints((0, 0.2), (0.5, 0.9), key="frequency")), flat)
    h("frequency-one-point", ACCEPT, SDK, "one frequency breakpoint", clip(frequency=breakpoints((0, 0.2), key="frequency")), flat)
    h("frequency-empty", ACCEPT, SDK, "an empty frequency envelope", clip(frequency="[]"), flat)
    h("frequency-null", ACCEPT, SDK, "the frequency envelope is optional, so that it can be null", clip(frequency="null"), flat)
    h("frequency-beyond-end", EITHER, SDK, "a frequency breakpoint after the last amplitude: an error of the strict mode alone",
      clip(frequency=breakpoints((0, 0.2), (2, 0.9), key="frequency")))
    h("emphasis", ACCEPT, DOCUMENT, "an emphasis at a breakpoint",
      clip(json.dumps([{"time": 0, "amplitude": 0.3}, emphasis(0.25, 0.3, 0.8, 0.5), {"time": 0.5, "amplitude": 0.3}])),
      taps=[[0.25, 0.8]])
    h("emphasis-at-start", ACCEPT, SDK, "an emphasis at the first breakpoint",
      clip(json.dumps([emphasis(0, 0.3, 1, 0), {"time": 0.5, "amplitude": 0.3}])), taps=[[0, 1]])
    h("emphasis-three", ACCEPT, SDK, "three emphases",
      clip(json.dumps([emphasis(0, 0, 0.4, 0.1), emphasis(0.3, 0, 0.6, 0.5), emphasis(0.6, 0, 0.9, 1)])),
      taps=[[0, 0.4], [0.3, 0.6], [0.6, 0.9]])
    h("emphasis-equal", ACCEPT, SDK, "an emphasis as strong as its breakpoint",
      clip(json.dumps([{"time": 0, "amplitude": 0.5}, emphasis(0.25, 0.5, 0.5, 0.5), {"time": 0.5, "amplitude": 0.5}])))
    h("emphasis-null", ACCEPT, SDK, "the emphasis is optional, so that it can be null",
      clip('[{"time": 0, "amplitude": 0.5, "emphasis": null}, {"time": 0.5, "amplitude": 0.5}]'), flat)
    h("emphasis-weaker", REFUSE, SDK, "an emphasis weaker than its breakpoint",
      clip(json.dumps([{"time": 0, "amplitude": 0.5}, emphasis(0.25, 0.5, 0.3, 0.5), {"time": 0.5, "amplitude": 0.5}])))
    h("emphasis-amplitude-above-1", REFUSE, SDK, "an emphasis above 1",
      clip(json.dumps([emphasis(0, 0.5, 1.2, 0.5), {"time": 0.5, "amplitude": 0.5}])))
    h("emphasis-frequency-above-1", REFUSE, SDK, "the frequency of an emphasis is above 1",
      clip(json.dumps([emphasis(0, 0.5, 0.8, 1.5), {"time": 0.5, "amplitude": 0.5}])))
    h("emphasis-frequency-negative", REFUSE, SDK, "the frequency of an emphasis is negative",
      clip(json.dumps([emphasis(0, 0.5, 0.8, -0.1), {"time": 0.5, "amplitude": 0.5}])))
    h("emphasis-without-frequency", REFUSE, SDK, "an emphasis without its frequency",
      clip('[{"time": 0, "amplitude": 0.5, "emphasis": {"amplitude": 0.8}}, {"time": 0.5, "amplitude": 0.5}]'))
    h("emphasis-without-amplitude", REFUSE, SDK, "an emphasis without its amplitude",
      clip('[{"time": 0, "amplitude": 0.5, "emphasis": {"frequency": 0.8}}, {"time": 0.5, "amplitude": 0.5}]'))
    h("amplitude-above-1", REFUSE, SDK, "an amplitude above 1", clip(breakpoints((0, 0.5), (0.5, 1.01))))
    h("amplitude-negative", REFUSE, SDK, "a negative amplitude", clip(breakpoints((0, -0.01), (0.5, 0.5))))
    h("amplitude-missing", REFUSE, SDK, "a breakpoint without amplitude", clip('[{"time": 0}, {"time": 1, "amplitude": 0.5}]'))
    h("amplitude-string", REFUSE, SDK, "an amplitude is a string", clip('[{"time": 0, "amplitude": "0.5"}, {"time": 1, "amplitude": 0.5}]'))
    h("amplitude-null", REFUSE, SDK, "an amplitude is null", clip('[{"time": 0, "amplitude": null}, {"time": 1, "amplitude": 0.5}]'))
    h("time-missing", REFUSE, SDK, "a breakpoint without time", clip('[{"amplitude": 0.5}, {"time": 1, "amplitude": 0.5}]'))
    h("time-negative", REFUSE, SDK, "a breakpoint before 0", clip(breakpoints((-0.1, 0.5), (0.5, 0.5))))
    h("time-backward", REFUSE, SDK, "breakpoints out of order", clip(breakpoints((0, 0.5), (0.5, 0.5), (0.4, 0.5))))
    h("frequency-above-1", REFUSE, SDK, "a frequency above 1", clip(frequency=breakpoints((0, 0.5), (0.5, 1.5), key="frequency")))
    h("frequency-negative", REFUSE, SDK, "a negative frequency", clip(frequency=breakpoints((0, -1), (0.5, 0.5), key="frequency")))
    h("frequency-backward", REFUSE, SDK, "frequency breakpoints out of order",
      clip(frequency=breakpoints((0, 0.5), (0.4, 0.5), (0.2, 0.5), key="frequency")))
    h("frequency-time-negative", REFUSE, SDK, "a frequency breakpoint before 0", clip(frequency=breakpoints((-0.1, 0.5), (0.5, 0.5), key="frequency")))
    h("frequency-object", REFUSE, SDK, "the frequency envelope is an object with other keys", clip(frequency='{"a": 1}'))
    h("points-none", REFUSE, SDK, "no amplitude breakpoints", clip("[]"))
    h("points-one", REFUSE, SDK, "one amplitude breakpoint", clip(breakpoints((0, 0.5))))
    h("points-same-time", REFUSE, SDK, "an envelope without duration", clip(breakpoints((0.2, 0.5), (0.2, 0.8))))
    h("amplitude-envelope-null", REFUSE, SDK, "the amplitude envelope is null", clip("null"))
    h("amplitude-envelope-missing", REFUSE, SDK, "no amplitude envelope",
      '{"version": %s, "signals": {"continuous": {"envelopes": {}}}}\n' % VERSION)
    h("envelopes-missing", REFUSE, SDK, "no envelopes", '{"version": %s, "signals": {"continuous": {}}}\n' % VERSION)
    h("continuous-missing", REFUSE, SDK, "no continuous signal", '{"version": %s, "signals": {}}\n' % VERSION)
    h("signals-missing", REFUSE, SDK, "no signals", '{"version": %s}\n' % VERSION)
    h("version-missing", REFUSE, SDK, "no version",
      '{"signals": {"continuous": {"envelopes": {"amplitude": %s}}}}\n' % TWO_POINTS)
    h("version-2", REFUSE, SDK, "version 2", clip(version='{"major": 2, "minor": 0, "patch": 0}'))
    h("version-0", REFUSE, SDK, "version 0", clip(version='{"major": 0, "minor": 9, "patch": 0}'))
    h("version-minor", ACCEPT, SDK, "a later minor version", clip(version='{"major": 1, "minor": 7, "patch": 3}'), flat)
    h("version-major-alone", ACCEPT, SDK, "minor and patch are optional", clip(version='{"major": 1}'), flat)
    h("version-string", REFUSE, SDK, "the version is a string", clip(version='"1.0.0"'))
    h("version-fraction", REFUSE, SDK, "the major version is a fraction", clip(version='{"major": 1.5, "minor": 0, "patch": 0}'))
    h("version-negative", REFUSE, SDK, "a negative minor version", clip(version='{"major": 1, "minor": -1, "patch": 0}'))
    h("metadata", ACCEPT, DOCUMENT, "metadata with all keys",
      clip(more=', "metadata": {"editor": "e", "author": "a", "source": "s", "project": "p", "tags": ["x", "y"], "description": "d"}'), flat)
    h("metadata-empty", ACCEPT, SDK, "empty metadata", clip(more=', "metadata": {}'), flat)
    h("metadata-null", EITHER, SDK, "metadata is null: the SDK rejects it", clip(more=', "metadata": null'))
    h("metadata-tags-string", EITHER, SDK, "tags are a string: the SDK rejects it", clip(more=', "metadata": {"tags": "x"}'))
    h("metadata-author-number", EITHER, SDK, "the author is a number: the SDK rejects it", clip(more=', "metadata": {"author": 1}'))
    h("unknown-top", ACCEPT, SDK, "an unknown key at the top", clip(more=', "extra": {"deep": [1, 2, {"x": null}]}'), flat)
    h("unknown-envelope", ACCEPT, SDK, "an unknown envelope", clip(envelopes=', "phase": [1, 2]'), flat)
    h("unknown-in-point", ACCEPT, SDK, "an unknown key in a breakpoint",
      clip('[{"time": 0, "amplitude": 0.5, "curve": "x"}, {"time": 0.5, "amplitude": 0.5}]'), flat)
    h("key-order", ACCEPT, JSON_RFC, "keys in another order",
      '{"signals": {"continuous": {"envelopes": {"amplitude": [{"amplitude": 0.5, "time": 0}, {"amplitude": 0.5, "time": 0.5}]}}}, "version": %s}\n' % VERSION, flat)
    h("exponent", ACCEPT, JSON_RFC, "numbers with exponents", clip('[{"time": 0e0, "amplitude": 5E-1}, {"time": 50e-2, "amplitude": 0.05e+1}]'), flat)
    h("white-space", ACCEPT, JSON_RFC, "tabs, line feeds and carriage returns between the parts",
      clip().replace(": ", "\t:\r\n ").replace(", ", "\n,\t"), flat)
    h("one-line", ACCEPT, JSON_RFC, "no white space", clip().replace(" ", "").rstrip(), flat)
    h("escapes", ACCEPT, JSON_RFC, "escapes in strings and in keys",
      clip(more=', "metadata": {"\\u0061uthor": "\\u00e4 \\ud834\\udd1e \\/ \\n"}'), flat)
    h("many-points", ACCEPT, SDK, "5,000 breakpoints", clip(json.dumps([{"time": k / 1000, "amplitude": 0.5} for k in range(5000)])),
      [[0, 0.5], [4.999, 0.5]])
    h("trailing-comma", EITHER, JSON_RFC, "a trailing comma: RFC 8259 lets a reader accept extensions; the SDK rejects it", clip(TWO_POINTS[:-1] + ",]"))
    h("comment", REFUSE, JSON_RFC, "a comment", "// clip\n" + clip())
    h("form-feed", REFUSE, JSON_RFC, "a form feed between the parts", clip().replace(", ", ",\f", 1))
    h("no-break-space", REFUSE, JSON_RFC, "a no-break space between the parts", clip().replace(", ", ",\u00a0", 1))
    h("nan", REFUSE, JSON_RFC, "an amplitude is NaN", clip('[{"time": 0, "amplitude": NaN}, {"time": 1, "amplitude": 0.5}]'))
    h("number-too-large", REFUSE, SDK, "a time is too large for a number", clip('[{"time": 0, "amplitude": 0.5}, {"time": 1e999, "amplitude": 0.5}]'))
    h("leading-plus", REFUSE, JSON_RFC, "a number with a plus sign", clip('[{"time": 0, "amplitude": +0.5}, {"time": 1, "amplitude": 0.5}]'))
    h("truncated", REFUSE, JSON_RFC, "the file ends early", clip()[:80])
    h("empty", REFUSE, JSON_RFC, "an empty file", "")
    h("invalid-utf-8", REFUSE, JSON_RFC, "a string that is not valid UTF-8", clip(more=', "metadata": {"author": "@"}').encode().replace(b"@", b"\xff"))
    h("two-documents", REFUSE, JSON_RFC, "text after the document", clip() + clip())
    h("byte-order-mark", EITHER, CHOICE, "a UTF-8 byte order mark: RFC 8259 allows a reader to ignore it", b"\xef\xbb\xbf" + clip().encode())
    h("utf-16", EITHER, CHOICE, "UTF-16 with a byte order mark", clip().encode("utf-16"))
    h("duplicate-key", EITHER, CHOICE, "a key twice: the SDK rejects it; RFC 8259 leaves it to the reader",
      clip('[{"time": 0, "time": 0, "amplitude": 0.5}, {"time": 1, "amplitude": 0.5}]'))
    return table


# ------------------------------------------------------------------------------------------------------- android/


def effect(content):
    return "<vibration-effect>%s</vibration-effect>\n" % content


def waveform(*entries, repeating=()):
    """A waveform effect from pairs of milliseconds and amplitude, 0 to 255 or "default"."""
    text = lambda some: "".join('<waveform-entry durationMs="%s" amplitude="%s"/>' % entry for entry in some)
    loop = "<repeating>%s</repeating>" % text(repeating) if repeating else ""
    return "<waveform-effect>%s%s</waveform-effect>" % (text(entries), loop)


def basic(*points, attributes=""):
    """A basic envelope from intensity, sharpness and milliseconds."""
    return "<basic-envelope-effect%s>%s</basic-envelope-effect>" % (attributes, "".join(
        '<control-point intensity="%s" sharpness="%s" durationMs="%s"/>' % point for point in points))


def envelope(*points, attributes=""):
    """A waveform envelope from amplitude, hertz and milliseconds."""
    return "<waveform-envelope-effect%s>%s</waveform-envelope-effect>" % (attributes, "".join(
        '<control-point amplitude="%s" frequencyHz="%s" durationMs="%s"/>' % point for point in points))


def steps(*entries):
    """The points of a waveform: constant amplitudes, with two points at each step."""
    points, time = [], 0
    for milliseconds, amplitude in entries:
        if milliseconds:
            points += [[time / 1000, round(amplitude / 255, 7)], [(time + milliseconds) / 1000, round(amplitude / 255, 7)]]
            time += milliseconds
    return points


def android_cases():
    table = []

    def a(name, verdict, source, about, content, points=None):
        case(table, "a-" + name, verdict, source, about, content, points)

    tick = '<primitive-effect name="tick"/>'
    for name in ("tick", "click", "heavy_click", "double_click"):
        a("predefined-" + name.replace("_", "-"), ACCEPT, AOSP, "the predefined effect " + name, effect('<predefined-effect name="%s"/>' % name))
    for name in ("low_tick", "tick", "click", "slow_rise", "quick_rise", "quick_fall", "spin", "thud"):
        a("primitive-" + name.replace("_", "-"), ACCEPT, AOSP, "the primitive " + name, effect('<primitive-effect name="%s"/>' % name))
    a("primitive-list", ACCEPT, AOSP, "several primitives with scale and delay",
      effect(tick + '<primitive-effect name="thud" scale="0.5" delayMs="20"/>'))
    a("primitive-pause", ACCEPT, AOSP, "the delay type pause", effect('<primitive-effect name="click" scale="0" delayMs="0" delayType="pause"/>'))
    a("primitive-offset", ACCEPT, AOSP, "the delay type relative_start_offset",
      effect(tick + '<primitive-effect name="click" delayMs="20" delayType="relative_start_offset"/>'))
    a("root-vibration", ACCEPT, AOSP, "the root element of earlier versions", "<vibration>%s</vibration>" % tick)
    a("waveform", ACCEPT, AOSP, "levels with a pause", effect(waveform((100, 128), (50, 0), (100, 255))), steps((100, 128), (50, 0), (100, 255)))
    a("waveform-one", ACCEPT, AOSP, "one level", effect(waveform((200, 64))), steps((200, 64)))
    a("waveform-adjacent", ACCEPT, AOSP, "adjacent levels", effect(waveform((60, 51), (60, 102), (60, 204))), steps((60, 51), (60, 102), (60, 204)))
    a("waveform-equal", ACCEPT, AOSP, "equal levels are one vibration", effect(waveform((60, 102), (60, 102))), steps((120, 102)))
    a("waveform-pause-first", ACCEPT, AOSP, "a pause at the start", effect(waveform((80, 0), (100, 255))), [[0.08, 1], [0.18, 1]])
    a("waveform-zero-entry", ACCEPT, AOSP, "an entry without duration", effect(waveform((0, 255), (100, 102))), steps((100, 102)))
    a("waveform-default", ACCEPT, AOSP, "the default amplitude", effect(waveform((100, "default"))))
    a("waveform-repeating", ACCEPT, AOSP, "a repeating section", effect(waveform((50, 51), repeating=((100, 255),))))
    a("waveform-repeating-alone", ACCEPT, AOSP, "only a repeating section", effect(waveform(repeating=((100, 255), (20, 0)))))
    a("waveform-attribute-order", ACCEPT, XML, "attributes in another order",
      effect('<waveform-effect><waveform-entry amplitude="255" durationMs="100"></waveform-entry></waveform-effect>'), steps((100, 255)))
    a("envelope", ACCEPT, AOSP, "an envelope begins at amplitude 0 and is linear", effect(envelope(("1", "150", 400), ("0", "150", 100))),
      [[0, 0], [0.4, 1], [0.5, 0]])
    a("envelope-hold", ACCEPT, AOSP, "a constant section", effect(envelope(("0.5", "100", 100), ("0.5", "200", 300), ("0", "200", 100))),
      [[0, 0], [0.1, 0.5], [0.4, 0.5], [0.5, 0]])
    a("envelope-initial-frequency", ACCEPT, AOSP, "an initial frequency", effect(envelope(("0.8", "90", 200), ("0", "90", 20), attributes=' initialFrequencyHz="60"')),
      [[0, 0], [0.2, 0.8], [0.22, 0]])
    a("envelope-end-above-0", ACCEPT, AOSP, "a waveform envelope may end above 0", effect(envelope(("0.4", "150", 50))), [[0, 0], [0.05, 0.4]])
    a("basic", ACCEPT, AOSP, "a basic envelope", effect(basic(("0.4", "0.5", 50), ("0", "1", 20))))
    a("basic-initial", ACCEPT, AOSP, "a basic envelope with an initial sharpness", effect(basic(("1", "0.5", 50), ("0", "1", 20), attributes=' initialSharpness="0.2"')))
    a("basic-silent", ACCEPT, AOSP, "a basic envelope of intensity 0", effect(basic(("0", "0", 1))))
    a("repeating-effect", ACCEPT, AOSP, "a repeating effect without preamble",
      effect("<repeating-effect><repeating>%s</repeating></repeating-effect>" % basic(("0.4", "0.5", 50), ("0", "1", 20))))
    a("repeating-preamble", ACCEPT, AOSP, "a repeating effect with a preamble",
      effect("<repeating-effect><preamble>%s</preamble><repeating>%s</repeating></repeating-effect>" % (envelope(("1", "150", 9)), tick)))
    a("select", ACCEPT, AOSP, "a selection of two effects", "<vibration-select>%s%s</vibration-select>" % (effect(tick), effect(basic(("0", "0", 1)))))
    a("comments", ACCEPT, XML, "comments and processing instructions", '<?xml version="1.0" encoding="utf-8"?><!-- a -->' + effect("<!-- b -->%s<?x y?>" % tick) + "<!-- c -->")
    a("white-space", ACCEPT, XML, "white space between elements and attributes", "\n<vibration-effect\t>\r\n  <primitive-effect\n name = 'tick'\n/>\n</vibration-effect >\n")
    a("number-exponent", ACCEPT, AOSP, "numbers with exponents and without digits after the point", effect(basic(("1e-1", ".5", 50), ("0.0", "1.", 20))))
    a("character-reference", ACCEPT, XML, "a character reference in an attribute", effect('<primitive-effect name="tic&#107;"/>'))

    a("empty-effect", REFUSE, AOSP, "an effect without content", effect(""))
    a("root-unknown", REFUSE, AOSP, "an unknown root element", "<haptics/>")
    a("root-attribute", REFUSE, AOSP, "an attribute of the root", '<vibration-effect a="1">%s</vibration-effect>' % tick)
    a("mixed-predefined", REFUSE, AOSP, "a predefined effect after a primitive", effect(tick + '<predefined-effect name="tick"/>'))
    a("mixed-primitive", REFUSE, AOSP, "a primitive after a predefined effect", effect('<predefined-effect name="tick"/>' + tick))
    a("predefined-unknown", REFUSE, AOSP, "an unknown predefined effect", effect('<predefined-effect name="thud"/>'))
    a("predefined-id", REFUSE, AOSP, "a predefined effect by number", effect('<predefined-effect id="0"/>'))
    a("primitive-unknown", REFUSE, AOSP, "an unknown primitive", effect('<primitive-effect name="boom"/>'))
    a("primitive-scale", REFUSE, AOSP, "a scale above 1", effect('<primitive-effect name="tick" scale="1.01"/>'))
    a("primitive-delay", REFUSE, AOSP, "a negative delay", effect('<primitive-effect name="tick" delayMs="-1"/>'))
    a("primitive-delay-type", REFUSE, AOSP, "an unknown delay type", effect('<primitive-effect name="tick" delayType="later"/>'))
    a("primitive-nested", REFUSE, AOSP, "a primitive in a primitive", effect('<primitive-effect name="tick">%s</primitive-effect>' % tick))
    a("element-unknown", REFUSE, AOSP, "an unknown element", effect('<primitiv-effect name="tick"/>'))
    a("element-case", REFUSE, XML, "names are case-sensitive", effect('<Primitive-Effect name="tick"/>'))
    a("waveform-empty", REFUSE, AOSP, "a waveform without entries", effect("<waveform-effect></waveform-effect>"))
    a("waveform-no-duration", REFUSE, AOSP, "all durations are 0", effect(waveform((0, 9), (0, 0))))
    a("waveform-repeating-empty", REFUSE, AOSP, "an empty repeating section",
      effect('<waveform-effect><waveform-entry durationMs="5" amplitude="9"/><repeating/></waveform-effect>'))
    a("waveform-after-repeating", REFUSE, AOSP, "an entry after the repeating section",
      effect('<waveform-effect><repeating><waveform-entry durationMs="5" amplitude="9"/></repeating><waveform-entry durationMs="5" amplitude="9"/></waveform-effect>'))
    a("waveform-amplitude-256", REFUSE, AOSP, "an amplitude above 255", effect(waveform((5, 256))))
    a("waveform-amplitude-negative", REFUSE, AOSP, "a negative amplitude", effect(waveform((5, -1))))
    a("waveform-amplitude-missing", REFUSE, AOSP, "an entry without amplitude", effect('<waveform-effect><waveform-entry durationMs="5"/></waveform-effect>'))
    a("waveform-duration-fraction", REFUSE, AOSP, "a duration with a fraction", effect(waveform(("5.5", 2))))
    a("waveform-duration-negative", REFUSE, AOSP, "a negative duration", effect(waveform((-5, 2))))
    a("waveform-entry-alone", REFUSE, AOSP, "an entry outside a waveform", effect('<waveform-entry durationMs="5" amplitude="9"/>'))
    a("envelope-empty", REFUSE, AOSP, "a waveform envelope without points", effect(envelope()))
    a("envelope-amplitude", REFUSE, AOSP, "an amplitude above 1", effect(envelope(("1.1", "150", 50))))
    a("envelope-frequency-0", REFUSE, AOSP, "a frequency of 0", effect(envelope(("0.4", "0", 50))))
    a("envelope-duration-0", REFUSE, AOSP, "a point without duration", effect(envelope(("0.4", "150", 0))))
    a("envelope-point-attribute", REFUSE, AOSP, "an unknown attribute of a point",
      effect('<waveform-envelope-effect><control-point amplitude="1" frequencyHz="9" durationMs="5" sharpness="1"/></waveform-envelope-effect>'))
    a("basic-empty", REFUSE, AOSP, "a basic envelope without points", effect(basic()))
    a("basic-end", REFUSE, AOSP, "a basic envelope that ends above 0", effect(basic(("0.4", "0.5", 50))))
    a("basic-sharpness", REFUSE, AOSP, "a sharpness above 1", effect(basic(("0.4", "1.5", 50), ("0", "0", 1))))
    a("basic-initial-negative", REFUSE, AOSP, "a negative initial sharpness", effect(basic(("0", "0", 1), attributes=' initialSharpness="-0.1"')))
    a("repeating-missing", REFUSE, AOSP, "a repeating effect without a repeating part", effect("<repeating-effect></repeating-effect>"))
    a("repeating-preamble-alone", REFUSE, AOSP, "only a preamble", effect("<repeating-effect><preamble>%s</preamble></repeating-effect>" % tick))
    a("repeating-empty", REFUSE, AOSP, "an empty repeating part", effect("<repeating-effect><repeating/></repeating-effect>"))
    a("repeating-nested", REFUSE, AOSP, "a repeating effect in a repeating effect", effect("<repeating-effect><repeating><repeating-effect/></repeating></repeating-effect>"))
    a("select-vibration", REFUSE, AOSP, "an earlier root element in a selection", "<vibration-select><vibration>%s</vibration></vibration-select>" % tick)
    a("text", REFUSE, AOSP, "text in an effect", effect("text" + tick))
    a("number-hexadecimal", REFUSE, AOSP, "a hexadecimal whole number", effect(waveform(("0x10", 9))))
    a("number-comma", REFUSE, AOSP, "a decimal comma", effect('<primitive-effect name="tick" scale="0,5"/>'))
    a("number-empty", REFUSE, AOSP, "an empty number", effect('<primitive-effect name="tick" scale=""/>'))
    a("two-roots", REFUSE, XML, "two root elements", effect(tick) + effect(tick))
    a("mismatched-tag", REFUSE, XML, "an end tag of another element", "<vibration-effect><primitive-effect></vibration-effect>")
    a("unclosed", REFUSE, XML, "no end tag", "<vibration-effect>" + tick)
    a("duplicate-attribute", REFUSE, XML, "an attribute twice", effect('<primitive-effect name="tick" name="click"/>'))
    a("undefined-entity", REFUSE, XML, "an undefined entity", effect('<primitive-effect name="&x;"/>'))
    a("unquoted-attribute", REFUSE, XML, "an attribute without quotation marks", effect("<primitive-effect name=tick/>"))
    a("text-before-root", REFUSE, XML, "text before the root", "text" + effect(tick))
    a("empty", REFUSE, XML, "an empty file", "")
    a("invalid-utf-8", REFUSE, XML, "a comment that is not valid UTF-8", effect("<!-- @ -->" + tick).encode().replace(b"@", b"\xff"))
    a("byte-order-mark", ACCEPT, XML, "a UTF-8 byte order mark", b"\xef\xbb\xbf" + effect(tick).encode())
    a("utf-16", EITHER, XML, "UTF-16: Android's own callers open files as UTF-8", effect(tick).encode("utf-16"))
    a("document-type", EITHER, CHOICE, "a document type declaration", "<!DOCTYPE vibration-effect>" + effect(tick))
    a("external-entity", EITHER, CHOICE, "an external entity that is not used",
      '<!DOCTYPE vibration-effect [<!ENTITY x SYSTEM "file:///dev/null">]>' + effect(tick))
    a("vendor", EITHER, CHOICE, "a vendor effect, whose content only the vendor knows", effect("<vendor-effect>AAAA</vendor-effect>"))
    return table
