internal import Reading
internal import SystemSupport
internal import ShippedFiles
internal import SignalPlots

/// A page with places to fill, each written `{{name}}`.
///
/// What is filled in is never searched for places, so that no text can ask for another's.
struct PageTemplate {
  private let text: [UInt8]

  init(_ text: [UInt8]) { self.text = text }

  /// The page with every place filled; a name without a filling stays empty.
  func filled(with fillings: [String: [UInt8]]) -> [UInt8] {
    var page: [UInt8] = []
    page.reserveCapacity(fillings.reduce(text.count) { $0 + $1.value.count })
    var index = 0
    while index < text.count {
      let place = placeholder(at: index)
      page += place.map { fillings[$0.name] ?? [] } ?? [text[index]]
      index = place?.end ?? index + 1
    }
    return page
  }

  var placeholderNames: [String] { text.indices.compactMap { placeholder(at: $0)?.name } }

  private func placeholder(at index: Int) -> (name: String, end: Int)? {
    guard text[index...].starts(with: "{{".utf8) else { return nil }
    let name = text[(index + 2)...].prefix {
      $0 < 0x80 && Unicode.Scalar($0).properties.isAlphabetic
    }
    guard !name.isEmpty, text[name.endIndex...].starts(with: "}}".utf8) else { return nil }
    return (String(decoding: name, as: UTF8.self), name.endIndex + 2)
  }
}

enum PageResource {
  static let reportPage = contents(ofFiles: "report.html")
  static let galleryPage = contents(ofFiles: "gallery.html")
  static let reportStyle = styleSheet(from: contents(ofFiles: "page.css report.css blind.css"))
  static let galleryStyle = styleSheet(from: contents(ofFiles: "page.css gallery.css"))
  static let reportScript = scriptBlock(
    from: contents(
      ofFiles: sharedScriptFiles
        + " picture.js waveform.js spectrogram.js marks.js differences.js folds.js pointing.js"
        + " address.js share.js blind.js report.js"))
  static let galleryScript = scriptBlock(
    from: contents(ofFiles: sharedScriptFiles + " thumbnail.js cards.js detail.js gallery.js"))
  static let studioPage = contents(ofFiles: "studio.html")
  static let studioStyle = styleSheet(from: contents(ofFiles: "page.css studio.css"))
  static let studioScript = scriptBlock(
    from: contents(
      ofFiles: """
        text.js keys.js studio-core.js studio-state.js studio-draw.js studio-edit.js \
        studio-sound.js studio-files.js
        """
          + " studio-text.js studio-fields.js studio.js"))
  static let studioWorklet = scriptBlock(
    from: contents(ofFiles: "studio-core.js studio-worklet.js"))
  static let studioWorker = scriptBlock(from: contents(ofFiles: "studio-core.js studio-worker.js"))
  /// The renderer as WebAssembly: the base64 text of its gzip form.
  static let studioModule = Base64.encoded(contents(ofFiles: "studio.module"))
  /// What both pages do: words, sound, patterns, drawing, player, keys.
  private static let sharedScriptFiles =
    "text.js sound.js pattern.js drawing.js envelope.js overlay.js player.js keys.js"

  private static func contents(ofFiles names: String) -> [UInt8] {
    names.split(separator: " ").flatMap { ShippedFiles.pageParts.bytes(named: String($0)) ?? [] }
  }

  /// One script, in a block of its own, so that nothing in it has a global name.
  ///
  /// Comments and indentation stay in the sources; no line of these continues a string.
  static func scriptBlock(from text: [UInt8]) -> [UInt8] {
    var isInComment = false
    var script = Array("\"use strict\";\n{\n".utf8)
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
      let code = line.drop(while: \.isWhitespace)
      if code.hasPrefix("/*") {
        isInComment = true
      }
      let isComment = isInComment || code.hasPrefix("//")
      if isInComment, code.hasSuffix("*/") {
        isInComment = false
      }
      guard !isComment, !code.isEmpty else { continue }
      script += Array(code.utf8) + [UInt8(ascii: "\n")]
    }
    return script + Array("}\n".utf8)
  }

  static func styleSheet(from text: [UInt8]) -> [UInt8] {
    Array(
      String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line in
        let rule = line.drop(while: \.isWhitespace)
        return rule.isEmpty || rule.hasPrefix("/*") ? nil : String(rule)
      }.joined(separator: "\n").utf8)
  }
}

/// A page: its frame, and what all kinds of pages fill in.
struct Page {
  let template: [UInt8]
  let script: [UInt8]
  let style: [UInt8]
  let generator: String
  let title: String
  var takes: [PageTake] = []
  /// What its policy allows beside its own script and style.
  var additionalPolicy = ""

  /// - Parameters:
  ///   - texts: Markup by the names of places.
  ///   - parts: Other contents by the names of places.
  func html(texts: [String: String] = [:], contents parts: [String: [UInt8]] = [:], data: [UInt8])
    -> [UInt8]
  {
    var texts = texts
    texts["policy"] = ContentSecurityPolicy.text(
      script: script, style: style, additionalPolicy: additionalPolicy)
    texts["generator"] = generator.escapedForMarkup
    texts["title"] = title.escapedForMarkup
    var fillings = parts.merging(texts.mapValues { Array($0.utf8) }) { $1 }
    fillings["style"] = style
    fillings["script"] = script
    fillings["data"] = data
    fillings["sounds"] = takes.enumerated().flatMap { index, take in
      take.sounds.enumerated().flatMap { $1.element(id: "sound-\(index)-\($0)") }
    }
    return PageTemplate(template).filled(with: fillings)
  }
}

/// What a page may load and run: its own script and style, pictures within it, and nothing else.
///
/// The script and the style are named by their hashes, so that markup which slipped in through a
/// text could run nothing.
enum ContentSecurityPolicy {
  /// The value of the policy for a page with one script and one style.
  ///
  /// - Parameter allowances: Further sources of scripts, and directives behind them.
  static func text(script: [UInt8], style: [UInt8], additionalPolicy allowances: String = "")
    -> String
  {
    "default-src 'none'; img-src data:; style-src '\(hashSource(of: style))'; "
      + "script-src '\(hashSource(of: script))'\(allowances); base-uri 'none'; form-action 'none'"
  }

  static func hashSource(of text: [UInt8]) -> String {
    let digits = Array(SHA256.hash(of: text))
    let hash = stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(digits[$0..<$0 + 2]), radix: 16)
    }
    return "sha256-" + String(decoding: Base64.encoded(hash), as: UTF8.self)
  }
}

extension String {
  /// The text as the content of an element, where quotation marks are letters.
  var escapedForContent: String { replacingScalars([("&", "&amp;"), ("<", "&lt;")]) }
}

enum JSONLayout {
  /// A text of JSON without spaces and line breaks between its values; other texts stay as they
  /// are.
  static func compact(_ text: String) -> String {
    guard (try? JSONDocument(text: Array(text.utf8), name: "text")) != nil else { return text }
    var isString = false
    var isEscaped = false
    let bytes = text.utf8.filter { byte in
      if isString {
        if !isEscaped, byte == UInt8(ascii: "\"") {
          isString = false
        }
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        return true
      }
      isString = byte == UInt8(ascii: "\"")
      return byte > UInt8(ascii: " ")
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

enum EmbeddedJSON {
  /// The JSON text of an object, in which no `<` can end its element.
  static func object(_ fields: JSONObject) -> [UInt8] {
    // Outside of strings JSON has no such sign.
    Array(fields.compactLine.replacingScalars([("<", #"\u003c"#)]).utf8)
  }
}
