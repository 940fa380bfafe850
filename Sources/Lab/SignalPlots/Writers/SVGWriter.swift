/// Writes a picture as SVG: one file for light and dark pages, with text as text.
struct SVGWriter {
  private let drawing: PlotDrawing
  private let theme: PlotTheme?
  private var body = ""
  private var definitions = ""
  private var gradientIDs: [PlotDrawing.Paint: String] = [:]
  private var maskCount = 0
  private var usedRoles: Set<PlotRole> = []

  static let fontFamilies =
    "-apple-system,\"Segoe UI\",Inter,Roboto,\"Noto Sans\",\"Liberation Sans\",Arial,sans-serif"

  /// - Parameter theme: The colours; nil for those that the viewer's page asks for.
  init(_ drawing: PlotDrawing, theme: PlotTheme?) {
    self.drawing = drawing
    self.theme = theme
  }

  mutating func document() throws(PlotError) -> String {
    for item in drawing.items {
      try append(item)
    }
    let width = Self.number(drawing.width)
    let height = Self.number(drawing.height)
    let title = drawing.title.isEmpty ? drawing.summary : drawing.title
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(width) \(height)\" "
      + "width=\"\(width)\" height=\"\(height)\" fill=\"none\" role=\"img\" "
      + "aria-label=\"\(Self.escapedXML(drawing.summary))\">"
      + "<title>\(Self.escapedXML(title))</title><style>\(styleSheet)</style>"
      + (definitions.isEmpty ? "" : "<defs>\(definitions)</defs>") + body + "</svg>\n"
  }

  private var styleSheet: String {
    let common = "text{font-family:\(Self.fontFamilies);font-variant-numeric:tabular-nums}"
    if let theme { return common + cssRules(for: theme) }
    return common + cssRules(for: .light)
      + "@media (prefers-color-scheme:dark){\(cssRules(for: .dark))}"
  }

  private func cssRules(for theme: PlotTheme) -> String {
    let palette = PlotPalette(theme)
    return usedRoles.sorted { $0.styleName < $1.styleName }.map { role in
      let color = palette.color(of: role).css
      return ".f-\(role.styleName){fill:\(color)}.s-\(role.styleName){stroke:\(color)}"
    }.joined()
  }

  private mutating func paintAttributes(fill: PlotDrawing.Fill?, stroke: PlotDrawing.Stroke? = nil)
    -> String
  {
    var classes = [String]()
    var attributes = ""
    func use(_ property: String, _ paint: PlotDrawing.Paint) {
      switch paint {
      case .role(let role):
        classes.append(className(prefix: property.prefix(1), role: role))
      case .color(let color):
        attributes += " \(property)=\"\(color.css)\""
      case .gradient(let stops, let from, let to):
        attributes +=
          " \(property)=\"url(#\(gradientID(for: paint, stops: stops, from: from, to: to)))\""
      }
    }
    if let fill {
      use("fill", fill.paint)
      if fill.opacity < 1 {
        attributes += Self.attribute("fill-opacity", fill.opacity, decimalPlaces: 2)
      }
    }
    if let stroke {
      use("stroke", stroke.paint)
      if stroke.width != 1 {
        attributes += Self.attribute("stroke-width", stroke.width, decimalPlaces: 2)
      }
      let dashes = stroke.dashes.map { Self.number($0) }.joined(separator: " ")
      if !dashes.isEmpty {
        attributes += " stroke-dasharray=\"\(dashes)\""
      }
      if stroke.opacity < 1 {
        attributes += Self.attribute("stroke-opacity", stroke.opacity, decimalPlaces: 2)
      }
    }
    return (classes.isEmpty ? "" : " class=\"\(classes.joined(separator: " "))\"") + attributes
  }

  private mutating func className(prefix: Substring, role: PlotRole) -> String {
    usedRoles.insert(role.canonical)
    return "\(prefix)-\(role.styleName)"
  }

  /// The name of a gradient, which equal ones share.
  private mutating func gradientID(
    for paint: PlotDrawing.Paint, stops: [PlotDrawing.GradientStop], from: PlotPoint, to: PlotPoint
  ) -> String {
    if let name = gradientIDs[paint] { return name }
    let name = "g\(gradientIDs.count)"
    gradientIDs[paint] = name
    let line = [("x1", from.x), ("y1", from.y), ("x2", to.x), ("y2", to.y)].map {
      Self.attribute($0, $1)
    }.joined()
    let colors = stops.map {
      "<stop\(Self.attribute("offset", $0.offset, decimalPlaces: 4)) stop-color=\"\($0.color.css)\"/>"
    }.joined()
    definitions +=
      """
      <linearGradient id=\"\(name)\" \
      gradientUnits=\"userSpaceOnUse\"\(line)>\(colors)</linearGradient>
      """
    return name
  }

  private mutating func append(_ item: PlotDrawing.Item) throws(PlotError) {
    switch item {
    case .path(let lines, let fill, let stroke):
      let outline = lines.map { Self.pathData($0) + (fill == nil ? "" : "z") }.joined()
      body += "<path\(paintAttributes(fill: fill, stroke: stroke)) d=\"\(outline)\"/>"
    case .disc(let centre, let radius, let fill, let stroke):
      let place =
        Self.attribute("cx", centre.x) + Self.attribute("cy", centre.y)
        + Self.attribute("r", radius, decimalPlaces: 2)
      body += "<circle\(paintAttributes(fill: fill, stroke: stroke))\(place)/>"
    case .rectangle(let box, let radius, let fill):
      let corners = radius > 0 ? Self.attribute("rx", radius) : ""
      body += "<rect\(paintAttributes(fill: fill))\(Self.boxAttributes(box))\(corners)/>"
    case .text(let runs, let place, let anchor):
      appendText(runs, at: place, anchor: anchor)
    case .raster(let raster):
      try append(raster)
    }
  }

  private mutating func appendText(
    _ runs: [PlotDrawing.TextRun], at place: PlotPoint, anchor: PlotDrawing.Anchor
  ) {
    guard let first = runs.first else { return }
    let anchored = anchor == .start ? "" : " text-anchor=\"\(anchor.rawValue)\""
    let start = Self.attribute("x", place.x) + Self.attribute("y", place.y)
    body += "<text\(fontAttributes(of: first))\(start)\(anchored)>\(Self.escapedXML(first.text))"
    for run in runs.dropFirst() {
      body +=
        "<tspan\(fontAttributes(of: run))\(Self.attribute("dx", run.leadingGap))>\(Self.escapedXML(run.text))</tspan>"
    }
    body += "</text>"
  }

  private mutating func fontAttributes(of run: PlotDrawing.TextRun) -> String {
    " class=\"\(className(prefix: "f", role: run.role))\"\(Self.attribute("font-size", run.fontSize))"
      + " font-weight=\"\(run.isBold ? 600 : 400)\""
  }

  /// A colour behind a mask of levels; equal levels in other colours are other masks.
  private mutating func append(_ raster: PlotDrawing.Raster) throws(PlotError) {
    guard raster.rowCount > 0 else { return }
    let image = String(decoding: Base64.encoded(try CairoWriter.png(of: raster)), as: UTF8.self)
    let name = "m\(maskCount)"
    let place = Self.boxAttributes(raster.box)
    maskCount += 1
    definitions +=
      "<mask id=\"\(name)\" maskUnits=\"userSpaceOnUse\"\(place)><image\(place) "
      + "preserveAspectRatio=\"none\" href=\"data:image/png;base64,\(image)\"/></mask>"
    body +=
      "<rect\(paintAttributes(fill: PlotDrawing.Fill(paint: raster.paint)))\(place) mask=\"url(#\(name))\"/>"
  }

  private static func boxAttributes(_ box: PlotBox) -> String {
    [("x", box.left), ("y", box.top), ("width", box.width), ("height", box.height)].map {
      attribute($0, $1)
    }.joined()
  }

  private static func attribute(_ name: String, _ value: Double, decimalPlaces places: Int = 1)
    -> String
  {
    " \(name)=\"\(number(value, decimalPlaces: places))\""
  }

  /// Moves and lines along points, to a tenth of a pixel.
  static func pathData(_ points: [PlotPoint]) -> String {
    var text = ""
    var last = ("", "")
    for (index, point) in points.enumerated() {
      let x = number(point.x)
      let y = number(point.y)
      if index == 0 {
        text += "M\(x) \(y)"
      } else if x == last.0 {
        if y != last.1 {
          text += "V\(y)"
        }
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
  static func number(_ value: Double, decimalPlaces places: Int = 1) -> String {
    guard abs(value) < 1e10 else { return "0" }
    let text = AxisTick.shortText(value, decimalPlaces: places)
    return text.hasPrefix("\u{2212}") ? "-" + text.dropFirst() : text
  }

  static func escapedXML(_ text: String) -> String {
    let known = text.unicodeScalars.map { scalar -> Unicode.Scalar in
      scalar.value >= 32 && scalar.value != 0xFFFE && scalar.value != 0xFFFF ? scalar : " "
    }
    return String(String.UnicodeScalarView(known)).escapedForMarkup
  }
}

extension String {
  /// The text with the characters that mean something in HTML and XML, also in quoted attributes,
  /// written out.
  package var escapedForMarkup: String {
    replacingScalars([
      ("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&#39;"),
    ])
  }

  /// The text with other texts in the place of some characters.
  package func replacingScalars(_ table: [(Unicode.Scalar, String)]) -> String {
    unicodeScalars.reduce(into: "") { text, scalar in
      if let other = table.first(where: { $0.0 == scalar }) {
        text += other.1
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
  }
}

/// Bytes as text (RFC 4648, section 4).
package enum Base64 {
  private static let digits = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The text of some bytes, padded.
  package static func encoded(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(encodedLength(ofByteCount: bytes.count))
    let digits = digits
    var index = 0
    while index < bytes.count {
      let left = min(3, bytes.count - index)
      var group = UInt32(bytes[index]) << 16
      if left > 1 {
        group |= UInt32(bytes[index + 1]) << 8
      }
      if left > 2 {
        group |= UInt32(bytes[index + 2])
      }
      for place in 0..<4 {
        let digit = digits[Int(group >> (18 - 6 * UInt32(place)) & 0x3F)]
        text.append(place <= left ? digit : UInt8(ascii: "="))
      }
      index += 3
    }
    return text
  }

  /// How long the text of so many bytes is.
  package static func encodedLength(ofByteCount byteCount: Int) -> Int { (byteCount + 2) / 3 * 4 }
}
