internal import Reading
internal import ShippedFiles
internal import SignalPlots

/// A page with places to fill, each written `{{name}}`.
///
/// What is filled in is never searched for places, so that no text can ask for another's.
struct PageTemplate {
  private let text: [UInt8]

  init(_ text: [UInt8]) { self.text = text }

  /// The page with every place filled, by fillings of about so many bytes; a name without one stays empty.
  func filled(with fillings: [String: [UInt8]], capacity: Int = 0) -> [UInt8] {
    var page: [UInt8] = []
    page.reserveCapacity(text.count + capacity)
    var index = 0
    while index < text.count {
      if let place = place(at: index) {
        page += fillings[place.name] ?? []
        index = place.end
      } else {
        page.append(text[index])
        index += 1
      }
    }
    return page
  }

  var names: [String] { text.indices.compactMap { place(at: $0)?.name } }

  private func place(at index: Int) -> (name: String, end: Int)? {
    let brace = UInt8(ascii: "{")
    guard text[index] == brace, index + 1 < text.count, text[index + 1] == brace else { return nil }
    var end = index + 2
    while end < text.count, text[end].isNameByte { end += 1 }
    guard end > index + 2, end + 1 < text.count else { return nil }
    guard text[end] == UInt8(ascii: "}"), text[end + 1] == UInt8(ascii: "}") else { return nil }
    return (String(decoding: text[index + 2..<end], as: UTF8.self), end + 2)
  }
}

extension UInt8 {
  fileprivate var isNameByte: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
  }
}

enum PageResource {
  static let reportPage = files("report.html")
  static let galleryPage = files("gallery.html")
  static let reportStyle = style(files("page.css report.css blind.css"))
  static let galleryStyle = style(files("page.css gallery.css"))
  static let reportScript = script(
    files(
      shared + " picture.js waveform.js spectrogram.js marks.js differences.js folds.js pointing.js blind.js report.js")
  )
  static let galleryScript = script(files(shared + " thumbnail.js cards.js detail.js gallery.js"))
  /// What both pages do: words, sound, patterns, drawing, player, keys.
  private static let shared = "text.js sound.js pattern.js drawing.js overlay.js player.js keys.js"

  private static func files(_ names: String) -> [UInt8] {
    names.split(separator: " ").flatMap { ShippedFiles.page.text(named: String($0)) ?? [] }
  }

  /// One script, in a block of its own, so that nothing in it has a global name.
  ///
  /// Comments and indentation stay in the sources; no line of these continues a string.
  static func script(_ text: [UInt8]) -> [UInt8] {
    var isInComment = false
    var script = Array("\"use strict\";\n{\n".utf8)
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
      let code = line.drop(while: \.isWhitespace)
      if code.hasPrefix("/*") { isInComment = true }
      let isComment = isInComment || code.hasPrefix("//")
      if isInComment, code.hasSuffix("*/") { isInComment = false }
      guard !isComment, !code.isEmpty else { continue }
      script += Array(code.utf8) + [UInt8(ascii: "\n")]
    }
    return script + Array("}\n".utf8)
  }

  static func style(_ text: [UInt8]) -> [UInt8] {
    Array(
      String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line in
        let rule = line.drop(while: \.isWhitespace)
        return rule.isEmpty || rule.hasPrefix("/*") ? nil : String(rule)
      }.joined(separator: "\n").utf8)
  }
}

/// A page: its frame, and what both kinds of pages fill in.
struct Page {
  let template: [UInt8]
  let script: [UInt8]
  let style: [UInt8]
  let generator: String
  let title: String
  let takes: [PageTake]

  /// - Parameter texts: Markup by the names of places.
  func html(_ texts: [String: String], data: [UInt8]) -> [UInt8] {
    var fillings = texts.mapValues { Array($0.utf8) }
    fillings["policy"] = Array(ContentSecurityPolicy.text(script: script, style: style).utf8)
    fillings["generator"] = Array(generator.escapedForMarkup.utf8)
    fillings["title"] = Array(title.escapedForMarkup.utf8)
    (fillings["style"], fillings["script"], fillings["data"]) = (style, script, data)
    fillings["sounds"] = takes.enumerated().flatMap { index, take in
      take.sounds.enumerated().flatMap { $1.element(id: "sound-\(index)-\($0)") }
    }
    let size = takes.flatMap(\.sounds).reduce(0) { $0 + $1.textLength }
    return PageTemplate(template).filled(with: fillings, capacity: size + 400_000)
  }
}

/// What a page may load and run: its own script and style, pictures within it, and nothing else.
///
/// The script and the style are named by their hashes, so that markup which slipped in through a text
/// could run nothing.
enum ContentSecurityPolicy {
  /// The value of the policy for a page with one script and one style.
  static func text(script: [UInt8], style: [UInt8]) -> String {
    "default-src 'none'; img-src data:; style-src '\(source(style))'; "
      + "script-src '\(source(script))'; base-uri 'none'; form-action 'none'"
  }

  static func source(_ text: [UInt8]) -> String {
    let digits = Array(SHA256.hash(of: text))
    let hash = stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0..<$0 + 2]), radix: 16) }
    return "sha256-" + String(decoding: Base64.encoded(hash), as: UTF8.self)
  }
}

enum EmbeddedJSON {
  /// The JSON text of an object, in which no `<` can end its element.
  static func object(_ contents: (inout JSONObjectWriter) -> Void) -> [UInt8] {
    var json = JSONWriter(layout: .compact)
    json.object(contents)
    var text: [UInt8] = []
    // Outside of strings JSON has no such sign.
    for byte in json.bytes {
      if byte == UInt8(ascii: "<") { text += Array(#"\u003c"#.utf8) } else { text.append(byte) }
    }
    return text
  }
}
