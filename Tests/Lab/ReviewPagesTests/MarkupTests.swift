import Reading
import SignalPlots
import SystemSupport
import Testing

@testable import ReviewPages

/// The components of pages: templates, policies, scripts and texts.
@Suite struct MarkupTests {
  @Test("Inserted contents are not searched for placeholders")
  func contentsAreNotSearched() {
    let template = PageTemplate(Array("a{{one}}b{{two}}c{{unknown}}d{ {x}} {{}}".utf8))
    let page = template.filledPageBytes(with: [
      "one": Array("{{two}}".utf8), "two": Array("2".utf8),
    ])
    #expect(String(decoding: page, as: UTF8.self) == "a{{two}}b2cd{ {x}} {{}}")
    #expect(template.placeholderNames == ["one", "two", "unknown"])
  }

  @Test("The policy contains the hash of the script")
  func policyContainsScriptHash() {
    // printf abc | openssl dgst -sha256 -binary | base64
    #expect(
      ContentSecurityPolicy.hashSource(of: Array("abc".utf8))
        == "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=")
  }

  @Test(
    "Base64 matches RFC 4648",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
      ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ])
  func base64MatchesTheStandard(_ text: String, _ encoded: String) {
    #expect(String(decoding: Base64.encoded(Array(text.utf8)), as: UTF8.self) == encoded)
    #expect(Base64.encodedLength(ofByteCount: text.utf8.count) == encoded.utf8.count)
  }

  @Test("Embedded JSON cannot contain a tag")
  func embeddedJSONHasNoTags() {
    let json = EmbeddedJSON.objectBytes(["name": "</script><!--"])
    #expect(String(decoding: json, as: UTF8.self) == #"{"name":"\u003c/script>\u003c!--"}"#)
  }

  @Test("Scripts have no comments and no indentation")
  func scriptsHaveNoComments() {
    let script = PageResource.scriptBlock(
      from: Array("/** Says\n * more. */\n  // a\n  let b = 1; // c\n\n".utf8))
    #expect(String(decoding: script, as: UTF8.self) == "\"use strict\";\n{\nlet b = 1; // c\n}\n")
  }
}

struct HTMLTextTests {
  @Test("Text cannot become markup")
  func textCannotBecomeMarkup() {
    #expect(
      "<a href=\"x\" title='y'>&é</a>".escapedForMarkup
        == "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;é&lt;/a&gt;")
  }
}

/// Decodes Base64, which the module only encodes.
enum Base64Text {
  /// Returns the bytes of a Base64 text, or nil if it is invalid.
  static func bytes(_ text: String) -> [UInt8]? {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var values = [UInt32?](repeating: nil, count: 256)
    for (value, digit) in digits.enumerated() {
      values[Int(digit)] = UInt32(value)
    }
    var bytes: [UInt8] = []
    var group: UInt32 = 0
    var count = 0
    for digit in text.utf8 where digit != UInt8(ascii: "=") {
      guard let value = values[Int(digit)] else { return nil }
      group = group << 6 | value
      count += 1
      if count == 4 {
        bytes += [16, 8, 0].map { UInt8(truncatingIfNeeded: group >> $0) }
        group = 0
        count = 0
      }
    }
    if count == 2 {
      bytes.append(UInt8(truncatingIfNeeded: group >> 4))
    }
    if count == 3 {
      bytes += [10, 2].map { UInt8(truncatingIfNeeded: group >> $0) }
    }
    return bytes
  }
}
