internal import Reading
internal import SystemSupport
internal import ShippedFiles
internal import SignalPlots

/// A template of a page with placeholders in the form `{{name}}`.
///
/// Inserted contents are not searched for placeholders, so that no text can insert another.
struct PageTemplate {
  private let templateBytes: [UInt8]

  init(_ text: [UInt8]) { self.templateBytes = text }

  /// Returns the page with the contents inserted for each placeholder.
  ///
  /// Placeholders without contents are removed.
  func filledPageBytes(with contents: [String: [UInt8]]) -> [UInt8] {
    var pageBytes: [UInt8] = []
    pageBytes.reserveCapacity(contents.reduce(templateBytes.count) { $0 + $1.value.count })
    var templateIndex = 0
    while templateIndex < templateBytes.count {
      if let placeholder = placeholder(at: templateIndex) {
        pageBytes += contents[placeholder.name] ?? []
        templateIndex = placeholder.end
      } else {
        pageBytes.append(templateBytes[templateIndex])
        templateIndex += 1
      }
    }
    return pageBytes
  }

  /// The names of all placeholders of the template.
  var placeholderNames: [String] { templateBytes.indices.compactMap { placeholder(at: $0)?.name } }

  /// Returns the placeholder that starts at an index of the template, or nil.
  private func placeholder(at index: Int) -> (name: String, end: Int)? {
    guard templateBytes[index...].starts(with: "{{".utf8) else { return nil }
    let placeholderName = templateBytes[(index + 2)...].prefix {
      $0 < 0x80 && Unicode.Scalar($0).properties.isAlphabetic
    }
    guard !placeholderName.isEmpty,
      templateBytes[placeholderName.endIndex...].starts(with: "}}".utf8)
    else { return nil }
    return (String(decoding: placeholderName, as: UTF8.self), placeholderName.endIndex + 2)
  }
}

/// The templates, scripts and style sheets of pages, assembled from the shipped files.
enum PageResource {
  static let reportPage = contents(ofFiles: "report.html")
  static let galleryPage = contents(ofFiles: "gallery.html")
  static let folderPage = contents(ofFiles: "folders.html")
  static let folderStyle = styleSheet(from: contents(ofFiles: "page.css folders.css"))
  static let reportStyle = styleSheet(from: contents(ofFiles: "page.css report.css blind.css"))
  static let galleryStyle = styleSheet(from: contents(ofFiles: "page.css gallery.css"))
  static let reportScript = scriptBlock(
    from: contents(
      ofFiles: sharedScriptFiles
        + " picture.js waveform.js spectrogram.js marks.js differences.js folds.js pointing.js"
        + " address.js csv.js share.js random.js blind.js report.js"))
  static let galleryScript = scriptBlock(
    from: contents(ofFiles: sharedScriptFiles + " thumbnail.js cards.js detail.js gallery.js"))
  static let studyPage = contents(ofFiles: "study.html")
  static let studyStyle = styleSheet(from: contents(ofFiles: "page.css study.css"))
  static let studyScript = scriptBlock(from: contents(ofFiles: studyScriptFiles))
  private static let studyScriptFiles =
    "text.js latency.js sound.js keys.js csv.js random.js study-trials.js study-record.js study.js"
  /// The scripts that generate the trials of a study. These scripts do not require a page.
  static let trialScript = contents(ofFiles: "random.js study-trials.js")
  static let studioPage = contents(ofFiles: "studio.html")
  static let studioStyle = styleSheet(from: contents(ofFiles: "page.css studio.css"))
  static let studioScript = scriptBlock(
    from: contents(
      ofFiles: "text.js lzma.js wasm-streams.js latency.js keys.js studio-core.js actuators.js"
        + " studio-state.js studio-draw.js studio-edit.js studio-arrange.js studio-sound.js"
        + " studio-output.js studio-reference.js studio-files.js studio-library.js studio-save.js"
        + " studio-session.js studio-text.js studio-fields.js studio.js"))
  static let studioWorklet = scriptBlock(
    from: contents(ofFiles: "studio-core.js studio-worklet.js"))
  static let studioWorker = scriptBlock(from: contents(ofFiles: "studio-core.js studio-worker.js"))
  /// The WebAssembly module of the renderer, compressed with LZMA.
  static let studioModule = contents(ofFiles: "studio.module")
  /// The list of shipped patterns, compressed with LZMA and encoded as text.
  static let studioPatterns = Base91.encoded(contents(ofFiles: "studio.patterns"))
  /// The names of the scripts that reports and galleries share.
  ///
  /// The scripts are for text, sound, patterns, drawing, the player, and keys.
  private static let sharedScriptFiles =
    "text.js latency.js sound.js pattern.js drawing.js envelope.js overlay.js player.js keys.js"

  /// Returns the concatenated contents of the shipped files in a space-separated list of names.
  private static func contents(ofFiles spaceSeparatedNames: String) -> [UInt8] {
    spaceSeparatedNames.split(separator: " ").flatMap {
      ShippedFiles.pageParts.bytes(named: String($0)) ?? []
    }
  }

  /// Returns a script in a block, without comments and indentation.
  ///
  /// In a block, the declarations of the script are not global.
  ///
  /// - Precondition: No line of the source continues a string of the previous line.
  static func scriptBlock(from source: [UInt8]) -> [UInt8] {
    var isInBlockComment = false
    var scriptBytes = Array("\"use strict\";\n{\n".utf8)
    for line in String(decoding: source, as: UTF8.self).split(separator: "\n") {
      let code = line.drop(while: \.isWhitespace)
      if code.hasPrefix("/*") {
        isInBlockComment = true
      }
      let isComment = isInBlockComment || code.hasPrefix("//")
      if isInBlockComment, code.hasSuffix("*/") {
        isInBlockComment = false
      }
      guard !isComment, !code.isEmpty else { continue }
      scriptBytes += Array(code.utf8) + [UInt8(ascii: "\n")]
    }
    return scriptBytes + Array("}\n".utf8)
  }

  /// Returns a style sheet without comments and indentation.
  static func styleSheet(from source: [UInt8]) -> [UInt8] {
    let sourceLines = String(decoding: source, as: UTF8.self).split(separator: "\n")
    let ruleLines = sourceLines.compactMap { line -> String? in
      let rule = line.drop(while: \.isWhitespace)
      return rule.isEmpty || rule.hasPrefix("/*") ? nil : String(rule)
    }
    return Array(ruleLines.joined(separator: "\n").utf8)
  }
}

/// An encoding of bytes as text for a script element.
///
/// Two characters store 13 bits, compared with 12 bits in Base64.
///
/// The characters are ASCII from `!` without `<`, which could end the element. Two of 91 characters
/// have 8,281 values, and 13 bits have 8,192. `lzma.js` decodes the text.
enum Base91 {
  private static let characterCount: UInt32 = 91
  private static let bitsPerPair = 13
  private static let firstCharacterCode = UInt8(ascii: "!")

  /// Returns the Base91 text of bytes.
  ///
  /// The bits of the bytes follow each other from the least significant bit, and zero bits fill the
  /// last two characters.
  static func encoded(_ bytes: [UInt8]) -> [UInt8] {
    var encodedText: [UInt8] = []
    encodedText.reserveCapacity(bytes.count * 16 / bitsPerPair + 2)
    var pendingBits: UInt32 = 0
    var pendingBitCount = 0
    func appendPair(_ value: UInt32) {
      encodedText.append(character(forDigit: value % characterCount))
      encodedText.append(character(forDigit: value / characterCount))
    }
    for byte in bytes {
      pendingBits |= UInt32(byte) << UInt32(pendingBitCount)
      pendingBitCount += 8
      guard pendingBitCount >= bitsPerPair else { continue }
      appendPair(pendingBits & 0x1FFF)
      pendingBits >>= UInt32(bitsPerPair)
      pendingBitCount -= bitsPerPair
    }
    if pendingBitCount > 0 {
      appendPair(pendingBits)
    }
    return encodedText
  }

  private static func character(forDigit digit: UInt32) -> UInt8 {
    let characterCode = firstCharacterCode + UInt8(digit)
    return characterCode < UInt8(ascii: "<") ? characterCode : characterCode + 1
  }
}

/// An HTML page: a template with the common contents of all kinds of pages.
struct ReviewPage {
  let templateBytes: [UInt8]
  let script: [UInt8]
  let style: [UInt8]
  let generator: String
  let title: String
  var takes: [PageTake] = []
  /// The sounds in the page that do not belong to takes.
  var soundsWithoutTakes: [EmbeddedSound] = []
  /// Additional script sources and directives for the content security policy.
  var additionalPolicyText = ""

  /// Returns the page as HTML.
  ///
  /// - Parameters:
  ///   - texts: Markup by placeholder name.
  ///   - contents: Other contents by placeholder name.
  ///   - data: The JSON for the script.
  func makeHTML(
    texts: [String: String] = [:], contents: [String: [UInt8]] = [:], data: [UInt8]
  ) -> [UInt8] {
    var pageTexts = texts
    pageTexts["policy"] = ContentSecurityPolicy.policyText(
      script: script, style: style, additionalPolicy: additionalPolicyText)
    pageTexts["generator"] = generator.escapedForMarkup
    pageTexts["title"] = title.escapedForMarkup
    var placeholderContents = contents.merging(pageTexts.mapValues { Array($0.utf8) }) { $1 }
    placeholderContents["style"] = style
    placeholderContents["script"] = script
    placeholderContents["data"] = data
    let soundGroups = takes.map(\.embeddedSounds) + soundsWithoutTakes.map { [$0] }
    placeholderContents["sounds"] = soundGroups.enumerated().flatMap { groupIndex, group in
      group.enumerated().flatMap { soundIndex, sound in
        sound.elementMarkup(id: "sound-\(groupIndex)-\(soundIndex)")
      }
    }
    return PageTemplate(templateBytes).filledPageBytes(with: placeholderContents)
  }
}

/// The Content Security Policy of a page.
///
/// It allows only the page's own script and style sheet and embedded images.
///
/// Script and style sheet are identified by their hashes, so that markup injected by a text cannot
/// run.
enum ContentSecurityPolicy {
  /// Returns the content security policy for a page with one script and one style sheet.
  ///
  /// - Parameters:
  ///   - script: The script.
  ///   - style: The style sheet.
  ///   - additionalPolicy: More sources of scripts, optionally followed by directives.
  static func policyText(
    script: [UInt8], style: [UInt8], additionalPolicy: String = ""
  ) -> String {
    "default-src 'none'; img-src data:; style-src '\(hashSource(of: style))'; "
      + "script-src '\(hashSource(of: script))'\(additionalPolicy); "
      + "base-uri 'none'; form-action 'none'"
  }

  /// Returns the SHA-256 hash of a text as a source expression of the content security policy.
  static func hashSource(of text: [UInt8]) -> String {
    let hexDigits = Array(SHA256.hash(of: text))
    let hashBytes = stride(from: 0, to: hexDigits.count, by: 2).compactMap {
      UInt8(String(hexDigits[$0..<$0 + 2]), radix: 16)
    }
    return "sha256-" + String(decoding: Base64.encoded(hashBytes), as: UTF8.self)
  }
}

extension String {
  /// The text escaped for the contents of an HTML element.
  ///
  /// Quotation marks have no special meaning there.
  var escapedForContent: String { replacingScalars([("&", "&amp;"), ("<", "&lt;")]) }
}

enum JSONLayout {
  /// Returns a JSON text without whitespace between its values.
  ///
  /// A text that is not JSON is returned unchanged.
  static func compactText(_ text: String) -> String {
    guard (try? JSONDocument(text: Array(text.utf8), name: "text")) != nil else { return text }
    var isInString = false
    var isEscaped = false
    let compactBytes = text.utf8.filter { byte in
      if isInString {
        if !isEscaped, byte == UInt8(ascii: "\"") {
          isInString = false
        }
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        return true
      }
      isInString = byte == UInt8(ascii: "\"")
      return byte > UInt8(ascii: " ")
    }
    return String(decoding: compactBytes, as: UTF8.self)
  }
}

enum EmbeddedJSON {
  /// Returns an object as JSON for a script element.
  ///
  /// The character `<`, which could end the element, is escaped.
  static func objectBytes(_ fields: JSONObject) -> [UInt8] {
    // In JSON, `<` occurs only in strings.
    Array(fields.compactLine.replacingScalars([("<", #"\u003c"#)]).utf8)
  }
}
