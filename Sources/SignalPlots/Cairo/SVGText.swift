/// An SVG file as Cairo writes it, made fit for pages.
struct SVGText {
  private let bytes: [UInt8]

  /// Takes the bytes of a file.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The file with a title for those who do not see it, short numbers, and names of its own.
  ///
  /// Cairo numbers some of its names through the life of a process. Here every name is a prefix and the
  /// number of its first use, so that equal pictures are equal bytes and different prefixes never meet.
  func readable(title: String, description: String, idPrefix: String) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + 512)
    var names: [ArraySlice<UInt8>: Int] = [:]
    var place = 0
    var isTitled = false
    // Digits since the point of a number inside the data of a path; nothing outside of one.
    var places: Int?
    var isPath = false
    while place < bytes.count {
      if isPath {
        let byte = bytes[place]
        if byte == UInt8(ascii: "\"") { isPath = false }
        switch byte {
        case UInt8(ascii: "."): places = 0
        case UInt8(ascii: "0")...UInt8(ascii: "9"): places = places.map { $0 + 1 }
        default: places = nil
        }
        if (places ?? 0) <= Self.pathPlaces { result.append(byte) }
        place += 1
        continue
      }
      if let mark = mark(at: place) {
        let start = place + mark.opening.count
        let end = bytes[start...].firstIndex(of: mark.closing) ?? bytes.endIndex
        let name = bytes[start..<end]
        let number = names[name] ?? names.count
        names[name] = number
        result += mark.opening
        result += Array("\(idPrefix)\(number)".utf8)
        place = end
      } else if bytes[place] == Self.path[0], bytes[place...].starts(with: Self.path) {
        isPath = true
        places = nil
        result += Self.path
        place += Self.path.count
      } else if !isTitled, bytes[place] == Self.opening[0],
        bytes[place...].starts(with: Self.opening)
      {
        isTitled = true
        let end = bytes[place...].firstIndex(of: UInt8(ascii: ">")) ?? bytes.endIndex - 1
        result +=
          Self.opening + Array(#"role="img" aria-label="\#(Self.escaped(description))" "#.utf8)
        result += bytes[(place + Self.opening.count)...end]
        result += Array(
          "\n<title>\(Self.escaped(title.isEmpty ? description : title))</title>".utf8)
        place = end + 1
      } else {
        result.append(bytes[place])
        place += 1
      }
    }
    return result
  }

  /// The mark that stands at a place, looked for only where its first byte does.
  private func mark(at place: Int) -> (opening: [UInt8], closing: UInt8)? {
    switch bytes[place] {
    case UInt8(ascii: " "), UInt8(ascii: "h"), UInt8(ascii: "u"):
      Self.marks.first { bytes[place...].starts(with: $0.opening) }
    default: nil
    }
  }

  private static let path = Array(" d=\"".utf8)
  /// Decimal places of a pixel that a path keeps: more are not seen, and make files large.
  private static let pathPlaces = 2
  private static let opening = Array("<svg ".utf8)
  /// How names are given and referred to, and what ends them.
  private static let marks: [(opening: [UInt8], closing: UInt8)] = [
    (Array(" id=\"".utf8), UInt8(ascii: "\"")),
    (Array("href=\"#".utf8), UInt8(ascii: "\"")),
    (Array("url(#".utf8), UInt8(ascii: ")")),
  ]

  /// Text as an XML document holds it.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      // No XML document can hold these.
      case _ where scalar.value < 32 || scalar.value == 0xFFFE || scalar.value == 0xFFFF:
        result += " "
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
