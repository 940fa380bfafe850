/// Writes a picture as SVG: one file for light and dark pages, with text as text.
struct SVGWriter {
  private let drawing: PlotDrawing
  private let theme: PlotTheme?
  private var body = ""
  private var definitions = ""
  private var gradients: [PlotDrawing.Paint: String] = [:]
  private var maskCount = 0
  private var roles: Set<PlotRole> = []

  static let fonts = "-apple-system,\"Segoe UI\",Inter,Roboto,\"Noto Sans\",\"Liberation Sans\",Arial,sans-serif"

  /// - Parameter theme: The colours; nil for those that the viewer's page asks for.
  init(_ drawing: PlotDrawing, theme: PlotTheme?) { (self.drawing, self.theme) = (drawing, theme) }

  mutating func text() throws(PlotError) -> String {
    for item in drawing.items { try append(item) }
    let (width, height) = (Self.number(drawing.width), Self.number(drawing.height))
    let title = drawing.title.isEmpty ? drawing.summary : drawing.title
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(width) \(height)\" "
      + "width=\"\(width)\" height=\"\(height)\" fill=\"none\" role=\"img\" "
      + "aria-label=\"\(Self.escaped(drawing.summary))\">"
      + "<title>\(Self.escaped(title))</title><style>\(style)</style>"
      + (definitions.isEmpty ? "" : "<defs>\(definitions)</defs>") + body + "</svg>\n"
  }

  // MARK: Style

  private var style: String {
    let common = "text{font-family:\(Self.fonts);font-variant-numeric:tabular-nums}"
    if let theme { return common + rules(theme) }
    return common + rules(.light) + "@media (prefers-color-scheme:dark){\(rules(.dark))}"
  }

  private func rules(_ theme: PlotTheme) -> String {
    let palette = PlotPalette(theme)
    return roles.sorted { $0.name < $1.name }.map { role in
      let color = palette.color(of: role).css
      return ".f-\(role.name){fill:\(color)}.s-\(role.name){stroke:\(color)}"
    }.joined()
  }

  private mutating func attributes(_ fill: PlotDrawing.Fill?, _ stroke: PlotDrawing.Stroke?) -> String {
    var (classes, attributes) = ([String](), "")
    if let fill {
      switch fill.paint {
      case .role(let role): classes.append(name("f", role))
      case .color, .gradient: attributes += " fill=\"\(value(fill.paint))\""
      }
      if fill.opacity < 1 { attributes += " fill-opacity=\"\(Self.number(fill.opacity, 2))\"" }
    }
    if let stroke {
      switch stroke.paint {
      case .role(let role): classes.append(name("s", role))
      case .color, .gradient: attributes += " stroke=\"\(value(stroke.paint))\""
      }
      if stroke.width != 1 { attributes += " stroke-width=\"\(Self.number(stroke.width, 2))\"" }
      if !stroke.dashes.isEmpty {
        let dashes = stroke.dashes.map { Self.number($0) }.joined(separator: " ")
        attributes += " stroke-dasharray=\"\(dashes)\""
      }
      if stroke.opacity < 1 { attributes += " stroke-opacity=\"\(Self.number(stroke.opacity, 2))\"" }
    }
    let names = classes.isEmpty ? "" : " class=\"\(classes.joined(separator: " "))\""
    return names + attributes
  }

  private mutating func name(_ prefix: String, _ role: PlotRole) -> String {
    roles.insert(role.distinct)
    return "\(prefix)-\(role.name)"
  }

  /// A colour, or a reference to a gradient, which equal ones share.
  private mutating func value(_ paint: PlotDrawing.Paint) -> String {
    switch paint {
    case .role: return "none"
    case .color(let color): return color.css
    case .gradient(let stops, let from, let to):
      if let name = gradients[paint] { return "url(#\(name))" }
      let name = "g\(gradients.count)"
      gradients[paint] = name
      definitions +=
        "<linearGradient id=\"\(name)\" gradientUnits=\"userSpaceOnUse\" "
        + "x1=\"\(Self.number(from.x))\" y1=\"\(Self.number(from.y))\" "
        + "x2=\"\(Self.number(to.x))\" y2=\"\(Self.number(to.y))\">"
      for stop in stops {
        definitions += "<stop offset=\"\(Self.number(stop.share, 4))\" stop-color=\"\(stop.color.css)\"/>"
      }
      definitions += "</linearGradient>"
      return "url(#\(name))"
    }
  }

  // MARK: Shapes

  private mutating func append(_ item: PlotDrawing.Item) throws(PlotError) {
    switch item {
    case .path(let lines, let fill, let stroke):
      let outline = lines.map { Self.path($0) + (fill == nil ? "" : "z") }.joined()
      body += "<path\(attributes(fill, stroke)) d=\"\(outline)\"/>"
    case .disc(let centre, let radius, let fill, let stroke):
      body +=
        "<circle\(attributes(fill, stroke)) cx=\"\(Self.number(centre.x))\" "
        + "cy=\"\(Self.number(centre.y))\" r=\"\(Self.number(radius, 2))\"/>"
    case .bar(let box, let radius, let fill):
      let corners = radius > 0 ? " rx=\"\(Self.number(radius))\"" : ""
      body += "<rect\(attributes(fill, nil)) \(Self.place(box))\(corners)/>"
    case .text(let runs, let place, let anchor): append(runs, at: place, anchor: anchor)
    case .raster(let raster): try append(raster)
    }
  }

  private mutating func append(_ runs: [PlotDrawing.Run], at place: PlotPoint, anchor: PlotDrawing.Anchor) {
    guard let first = runs.first else { return }
    let anchored = anchor == .start ? "" : " text-anchor=\"\(anchor.rawValue)\""
    body +=
      "<text\(look(first)) x=\"\(Self.number(place.x))\" y=\"\(Self.number(place.y))\"\(anchored)>"
      + Self.escaped(first.text)
    for run in runs.dropFirst() {
      body += "<tspan\(look(run)) dx=\"\(Self.number(run.gap))\">\(Self.escaped(run.text))</tspan>"
    }
    body += "</text>"
  }

  private mutating func look(_ run: PlotDrawing.Run) -> String {
    " class=\"\(name("f", run.role))\" font-size=\"\(Self.number(run.size))\""
      + " font-weight=\"\(run.isBold ? 600 : 400)\""
  }

  /// A colour behind a mask of levels; equal levels in other colours are other masks.
  private mutating func append(_ raster: PlotDrawing.Raster) throws(PlotError) {
    guard raster.rows > 0 else { return }
    let image = try CairoWriter.png(of: raster)
    let name = "m\(maskCount)"
    maskCount += 1
    let place = Self.place(raster.box)
    definitions +=
      "<mask id=\"\(name)\" maskUnits=\"userSpaceOnUse\" \(place)><image \(place) "
      + "preserveAspectRatio=\"none\" href=\"data:image/png;base64,"
      + String(decoding: Base64.encoded(image), as: UTF8.self) + "\"/></mask>"
    body += "<rect\(attributes(PlotDrawing.Fill(paint: raster.paint), nil)) \(place) " + "mask=\"url(#\(name))\"/>"
  }

  // MARK: Text

  private static func place(_ box: PlotBox) -> String {
    "x=\"\(number(box.left))\" y=\"\(number(box.top))\" width=\"\(number(box.width))\" "
      + "height=\"\(number(box.height))\""
  }

  /// Moves and lines along points, to a tenth of a pixel.
  static func path(_ points: [PlotPoint]) -> String {
    var (text, last) = ("", ("", ""))
    for (index, point) in points.enumerated() {
      let (x, y) = (number(point.x), number(point.y))
      if index == 0 {
        text += "M\(x) \(y)"
      } else if x == last.0 {
        if y != last.1 { text += "V\(y)" }
      } else if y == last.1 {
        text += "H\(x)"
      } else {
        text += "L\(x) \(y)"
      }
      last = (x, y)
    }
    return text
  }

  /// A number with at most some decimal places.
  static func number(_ value: Double, _ places: Int = 1) -> String {
    let scale = places == 1 ? 10.0 : (places == 2 ? 100 : 10_000)
    let scaled = (value.isFinite ? value * scale : 0).rounded()
    guard abs(scaled) < 1e15 else { return "0" }
    var (digits, left) = (String(Int(abs(scaled))), places)
    if digits.utf8.count <= places { digits = String(repeating: "0", count: places + 1 - digits.utf8.count) + digits }
    while left > 0, digits.hasSuffix("0") {
      digits.removeLast()
      left -= 1
    }
    let integer = digits.dropLast(left)
    let text = left == 0 ? String(integer) : "\(integer).\(digits.suffix(left))"
    return scaled < 0 ? "-" + text : text
  }

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

/// Bytes as text (RFC 4648, section 4).
package enum Base64 {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The text of some bytes, padded.
  package static func encoded(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(length(of: bytes.count))
    let digits = digits
    var index = 0
    while index < bytes.count {
      let left = min(3, bytes.count - index)
      var group = UInt32(bytes[index]) << 16
      if left > 1 { group |= UInt32(bytes[index + 1]) << 8 }
      if left > 2 { group |= UInt32(bytes[index + 2]) }
      for place in 0..<4 {
        let digit = digits[Int(group >> (18 - 6 * UInt32(place)) & 0x3F)]
        text.append(place <= left ? digit : UInt8(ascii: "="))
      }
      index += 3
    }
    return text
  }

  /// How long the text of so many bytes is.
  package static func length(of byteCount: Int) -> Int { (byteCount + 2) / 3 * 4 }
}
