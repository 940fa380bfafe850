import Reading
import Testing

/// Texts that are refused, and the complete lines that a user reads.
@Suite struct JSONErrorTests {
  static let invalidTexts: [(text: String, line: String)] = [
    (#""#, #"t.json:1:1: error: the text is empty"#),
    (#"  \#n "#, #"t.json:2:2: error: the text is empty"#),
    (#"\#u{FEFF}"#, #"t.json:1:1: error: the text is empty"#),
    (#"{"a": 1"#, #"t.json:1:8: error: the text ends inside the object that starts at 1:1"#),
    (#"{"a""#, #"t.json:1:5: error: the text ends inside the object that starts at 1:1"#),
    (#"{"a" 1}"#, #"t.json:1:6: error: expected ":" after the key, found "1""#),
    (#"{"a":"#, #"t.json:1:6: error: the text ends inside the object that starts at 1:1"#),
    (#"[1, 2"#, #"t.json:1:6: error: the text ends inside the array that starts at 1:1"#),
    (#"[1,\#n"#, #"t.json:2:1: error: the text ends inside the array that starts at 1:1"#),
    (#""abc"#, #"t.json:1:5: error: the text ends inside the string that starts at 1:1"#),
    (#""abc\"#, #"t.json:1:5: error: the text ends inside the string that starts at 1:1"#),
    (#""a\u12"#, #"t.json:1:3: error: the text ends inside the string that starts at 1:1"#),
    (
      #"{} \#u{2028}"#,
      #"t.json:1:4: error: expected the end of the text after the value, found "\u2028""#
    ),
    (
      #"{} \#u{9B}"#,
      #"t.json:1:4: error: expected the end of the text after the value, found "\u009B""#
    ),
    (
      #"{"a": 1} x"#,
      #"t.json:1:10: error: expected the end of the text after the value, found "x""#
    ),
    (#"{} {}"#, #"t.json:1:4: error: expected the end of the text after the value, found "{""#),
    (#"[1 2]"#, #"t.json:1:4: error: expected "," or "]", found "2""#),
    (#"{"a": 1 "b": 2}"#, #"t.json:1:9: error: expected "," or "}", found a string"#),
    (#"{a: 1}"#, #"t.json:1:2: error: expected a key in double quotes, found "a""#),
    (#"{'a': 1}"#, #"t.json:1:2: error: strings must be in double quotes"#),
    (#"['a']"#, #"t.json:1:2: error: strings must be in double quotes"#),
    (#"[NaN]"#, #"t.json:1:2: error: NaN is not a JSON number"#),
    (#"[Infinity]"#, #"t.json:1:2: error: Infinity is not a JSON number"#),
    (#"[-Infinity]"#, #"t.json:1:2: error: -Infinity is not a JSON number"#),
    (#"[+1]"#, #"t.json:1:2: error: a number cannot start with "+""#),
    (#"[.5]"#, #"t.json:1:2: error: a number needs a digit before the point"#),
    (#"[1.]"#, #"t.json:1:4: error: expected a digit after the point, found "]""#),
    (#"[1e]"#, #"t.json:1:4: error: expected a digit in the exponent, found "]""#),
    (#"[1e+]"#, #"t.json:1:5: error: expected a digit in the exponent, found "]""#),
    (#"[-]"#, #"t.json:1:3: error: expected a digit, found "]""#),
    (#"[01]"#, #"t.json:1:2: error: a number cannot start with a zero and more digits"#),
    (#"[0x10]"#, #"t.json:1:3: error: expected "," or "]", found "x""#),
    (#"[1e400]"#, #"t.json:1:2: error: number out of range"#),
    (#"[-1e309]"#, #"t.json:1:2: error: number out of range"#),
    (#"[True]"#, #"t.json:1:2: error: expected a value, found "True"; did you mean true?"#),
    (#"[nul]"#, #"t.json:1:2: error: expected a value, found "nul""#),
    (#"[1, // one\#n2]"#, #"t.json:1:5: error: comments are not allowed in JSON"#),
    (#"/* x */ {}"#, #"t.json:1:1: error: comments are not allowed in JSON"#),
    (#"{} # end"#, #"t.json:1:4: error: comments are not allowed in JSON"#),
    (#"["a\#nb"]"#, #"t.json:1:4: error: unterminated string"#),
    (#"["a\#tb"]"#, #"t.json:1:4: error: a tab inside a string must be written as \t"#),
    (
      #"["\#u{1}"]"#,
      #"t.json:1:3: error: a control character inside a string must be written as \u0001"#
    ),
    (#"["\q"]"#, #"t.json:1:3: error: invalid escape: backslash before "q""#),
    (#"["\u12x4"]"#, #"t.json:1:3: error: \u requires four hexadecimal digits"#),
    (#"["\ud800"]"#, #"t.json:1:3: error: \uD800 is an unpaired surrogate"#),
    (#"["\ud800\u0041"]"#, #"t.json:1:3: error: \uD800 is an unpaired surrogate"#),
    (#"["\udc00"]"#, #"t.json:1:3: error: \uDC00 is an unpaired surrogate"#),
    (#"[,]"#, #"t.json:1:2: error: expected a value, found ",""#),
    (#"[1,,2]"#, #"t.json:1:4: error: expected a value, found ",""#),
    (#"{,}"#, #"t.json:1:2: error: expected a key in double quotes, found ",""#),
    (#"{"a": 1,, "b": 2}"#, #"t.json:1:9: error: expected a key in double quotes, found ",""#),
    (#"{"a": }"#, #"t.json:1:7: error: expected a value, found "}""#),
    (#"]"#, #"t.json:1:1: error: expected a value, found "]""#),
    (#"}"#, #"t.json:1:1: error: expected a value, found "}""#),
    (#"[}"#, #"t.json:1:2: error: expected a value, found "}""#),
    (#"{]"#, #"t.json:1:2: error: expected a key in double quotes, found "]""#),
    (#"{"é": ?}"#, #"t.json:1:7: error: expected a value, found "?""#),
    (#"\#r\#n\#r\#n {"a"; 1}"#, #"t.json:3:6: error: expected ":" after the key, found ";""#),
  ]

  @Test(arguments: invalidTexts) func refusesWithOneLine(text: String, line: String) {
    let error = #expect(throws: JSONError.self) {
      try JSONDocument(text: Array(text.utf8), name: "t.json")
    }
    #expect(error?.description == line)
  }

  @Test(
    arguments: [
      ([0x5B, 0x22, 0xFF, 0x22, 0x5D], 3, "the byte 0xFF is not valid UTF-8"),
      ([0x5B, 0x22, 0xC0, 0xAF, 0x22, 0x5D], 3, "the byte 0xC0 is not valid UTF-8"),
      ([0x5B, 0x22, 0xED, 0xA0, 0x80, 0x22, 0x5D], 3, "the byte 0xED is not valid UTF-8"),
      ([0x5B, 0x22, 0xE2, 0x82, 0x22, 0x5D], 3, "the byte 0xE2 is not valid UTF-8"),
      ([0x5B, 0x22, 0xF4, 0x90, 0x80, 0x80, 0x22, 0x5D], 3, "the byte 0xF4 is not valid UTF-8"),
      ([0xFF, 0xFE, 0x7B, 0x00], 1, "the text is UTF-16, not UTF-8"),
    ] as [([UInt8], Int, String)]) func refusesOtherEncodings(
      text: [UInt8], column: Int, message: String
    )
  {
    let error = #expect(throws: JSONError.self) { try JSONDocument(text: text, name: "t.json") }
    #expect(error?.kind == .encoding)
    #expect(error?.location == FileLocation(name: "t.json", line: 1, column: column))
    #expect(error?.message == message)
  }

  @Test func truncationDiffersFromSyntaxErrors() {
    func kind(_ text: String) -> JSONError.Kind? {
      #expect(throws: JSONError.self) { try JSONDocument(text: Array(text.utf8), name: "t") }?.kind
    }
    #expect(kind("{\"a\": [1,") == .truncated)
    #expect(kind("") == .truncated)
    #expect(kind("{\"a\": [1,]]") == .syntax)
  }

  @Test func textsBeyondLimitsAreRefused() {
    func error(_ text: String, _ limits: JSONLimits) -> JSONError? {
      #expect(throws: JSONError.self) {
        try JSONDocument(text: Array(text.utf8), name: "t", limits: limits)
      }
    }
    let textError = error("[1, 2]", JSONLimits(maximumTextByteCount: 5))
    #expect(
      textError?.description == "t:1:1: error: the text is too large: 6 bytes; the limit is 5")
    #expect(textError?.kind == .limit)
    let valueError = error("[1, 2]", JSONLimits(maximumValueCount: 2))
    #expect(valueError?.description == "t:1:5: error: the text has more than 2 values")
    let nestingError = error("[[[]]]", JSONLimits(maximumNestingDepth: 2))
    #expect(
      nestingError?.description
        == "t:1:3: error: objects and arrays are nested more than 2 levels deep")
  }

  @Test func deepNestingIsRefused() {
    let text = [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
    let error = #expect(throws: JSONError.self) { try JSONDocument(text: text, name: "t") }
    #expect(
      error?.description
        == "t:1:257: error: objects and arrays are nested more than 256 levels deep")
  }
}
