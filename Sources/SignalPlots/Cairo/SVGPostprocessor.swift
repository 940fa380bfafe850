/// An SVG file as Cairo writes it, made fit for pages.
struct SVGPostprocessor {
  private let bytes: [UInt8]
  private var result: [UInt8] = []
  private var names: [ArraySlice<UInt8>: Int] = [:]
  private var idPrefix = ""

  /// Takes the bytes of a file.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    result.reserveCapacity(bytes.count + 512)
  }

  /// The file with a title for those who do not see it, shorter, and with names of its own.
  ///
  /// Cairo numbers some of its names through the life of a process. Here every name is a prefix and the
  /// number of its first use, so that equal pictures are equal bytes and different prefixes never meet.
  mutating func readable(title: String, description: String, idPrefix: String) -> [UInt8] {
    self.idPrefix = idPrefix
    var place = 0
    var isTitled = false
    while place < bytes.count {
      guard let mark = mark(at: place), mark != .opening || !isTitled else {
        result.append(bytes[place])
        place += 1
        continue
      }
      result += mark.text
      let start = place + mark.text.count
      let end = bytes[start...].firstIndex(of: mark.end) ?? bytes.endIndex
      let value = bytes[start..<end]
      switch mark {
      case .name, .reference, .link:
        appendName(value)
      case .path: appendShort(value)
      case .style: appendStyle(value)
      case .opening:
        isTitled = true
        result += Array(#"role="img" aria-label="\#(Self.escaped(description))" "#.utf8)
        result += value
        let shown = title.isEmpty ? description : title
        result += Array(">\n<title>\(Self.escaped(shown))</title".utf8)
      }
      place = end
    }
    return result
  }

  /// What begins a part that is changed.
  private enum Mark: CaseIterable {
    case name, reference, link, path, style, opening

    var text: [UInt8] {
      switch self {
      case .name: Self.nameText
      case .reference: Self.referenceText
      case .link: Self.linkText
      case .path: Self.pathText
      case .style: Self.styleText
      case .opening: Self.openingText
      }
    }

    /// The byte behind the part.
    var end: UInt8 {
      switch self {
      case .link: UInt8(ascii: ")")
      case .opening: UInt8(ascii: ">")
      default: UInt8(ascii: "\"")
      }
    }

    private static let nameText = Array(" id=\"".utf8)
    private static let referenceText = Array("href=\"#".utf8)
    private static let linkText = Array("url(#".utf8)
    private static let pathText = Array(" d=\"".utf8)
    private static let styleText = Array(" style=\"".utf8)
    private static let openingText = Array("<svg ".utf8)
  }

  /// The mark that stands at a place, looked for only where its first byte does.
  private func mark(at place: Int) -> Mark? {
    switch bytes[place] {
    case UInt8(ascii: " "), UInt8(ascii: "h"), UInt8(ascii: "u"), UInt8(ascii: "<"):
      Mark.allCases.first { bytes[place...].starts(with: $0.text) }
    default: nil
    }
  }

  /// Appends the name that stands for one of Cairo's.
  private mutating func appendName(_ name: ArraySlice<UInt8>) {
    let number = names[name] ?? names.count
    names[name] = number
    result += Array("\(idPrefix)\(number)".utf8)
  }

  /// Decimal places that are kept: more are not seen, and make files large.
  private static let places = 2

  /// Appends text in which numbers have no more decimal places than are kept.
  private mutating func appendShort(_ text: ArraySlice<UInt8>) {
    // Digits since the point of a number.
    var places: Int?
    for byte in text {
      switch byte {
      case UInt8(ascii: "."): places = 0
      case UInt8(ascii: "0")...UInt8(ascii: "9"): places = places.map { $0 + 1 }
      default: places = nil
      }
      if (places ?? 0) <= Self.places { result.append(byte) }
    }
  }

  /// What Cairo says though it is so anyway.
  private static let needless: Set<[UInt8]> = Set(
    [
      "stroke:none", "fill-rule:nonzero", "fill-opacity:1", "stroke-opacity:1",
      "stroke-linecap:butt", "stroke-linejoin:miter", "stroke-miterlimit:10", "stop-opacity:1",
    ].map { Array($0.utf8) })

  /// Appends a style without what is needless.
  private mutating func appendStyle(_ style: ArraySlice<UInt8>) {
    var isFirst = true
    for part in style.split(separator: UInt8(ascii: ";")) {
      let trimmed = part.drop { $0 == UInt8(ascii: " ") }
      if Self.needless.contains(Array(trimmed)) { continue }
      if !isFirst { result.append(UInt8(ascii: ";")) }
      isFirst = false
      if let start = trimmed.firstIndex(of: UInt8(ascii: "#")) {
        // A gradient, by its name.
        let end = trimmed.firstIndex(of: UInt8(ascii: ")")) ?? trimmed.endIndex
        result += trimmed[...start]
        appendName(trimmed[(start + 1)..<end])
        result += trimmed[end...]
      } else {
        appendShort(trimmed)
      }
    }
  }

  /// Text as an XML document holds it, which knows no control characters.
  static func escaped(_ text: String) -> String {
    var allowed = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isKnown = scalar.value >= 32 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
      allowed.append(isKnown ? scalar : " ")
    }
    return String(allowed).escapedForMarkup
  }
}

extension String {
  /// The text with the characters that mean something in HTML and XML, also in quoted attributes, written out.
  package var escapedForMarkup: String {
    var escaped = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
