/// A writer of drawings as SVG.
///
/// Roles become CSS classes, so that one file fits light and dark pages.
struct SVGWriter {
  private let drawing: PlotDrawing
  /// The color theme, or nil to follow the theme of the page that shows the file.
  private let theme: PlotTheme?
  private var bodyMarkup = ""
  /// The gradients and masks for the SVG element `defs`.
  private var definitionMarkup = ""
  private var gradientIDs: [PlotDrawing.Paint: String] = [:]
  private var maskCount = 0
  /// The roles that need CSS rules.
  private var usedRoles: Set<PlotColorRole> = []

  static let fontFamilies =
    "-apple-system,\"Segoe UI\",Inter,Roboto,\"Noto Sans\",\"Liberation Sans\",Arial,sans-serif"

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - drawing: The drawing.
  ///   - theme: The colors, or nil to follow the page that shows the file.
  init(_ drawing: PlotDrawing, theme: PlotTheme?) {
    self.drawing = drawing
    self.theme = theme
  }

  /// Returns the text of the SVG file.
  mutating func makeDocument() throws(PlotError) -> String {
    for item in drawing.items {
      try append(item)
    }
    let widthText = Self.numberText(drawing.width)
    let heightText = Self.numberText(drawing.height)
    let titleText = drawing.title.isEmpty ? drawing.accessibleDescription : drawing.title
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(widthText) \(heightText)\" "
      + "width=\"\(widthText)\" height=\"\(heightText)\" fill=\"none\" role=\"img\" "
      + "aria-label=\"\(Self.escapedXML(drawing.accessibleDescription))\">"
      + "<title>\(Self.escapedXML(titleText))</title><style>\(styleSheet)</style>"
      + (definitionMarkup.isEmpty ? "" : "<defs>\(definitionMarkup)</defs>") + bodyMarkup
      + "</svg>\n"
  }

  private var styleSheet: String {
    let commonRules = "text{font-family:\(Self.fontFamilies);font-variant-numeric:tabular-nums}"
    if let theme { return commonRules + cssRules(for: theme) }
    return commonRules + cssRules(for: .light)
      + "@media (prefers-color-scheme:dark){\(cssRules(for: .dark))}"
  }

  private func cssRules(for theme: PlotTheme) -> String {
    let themePalette = PlotPalette(theme)
    let sortedRoles = usedRoles.sorted { $0.cssName < $1.cssName }
    let roleRules = sortedRoles.map { role in
      let color = themePalette.color(of: role).cssText
      return ".f-\(role.cssName){fill:\(color)}.s-\(role.cssName){stroke:\(color)}"
    }
    return roleRules.joined()
  }

  /// Returns the attributes of a fill and a stroke.
  private mutating func makePaintAttributes(
    fill: PlotDrawing.Fill?, stroke: PlotDrawing.Stroke? = nil
  ) -> String {
    var classNames = [String]()
    var attributeMarkup = ""
    func addPaint(_ paint: PlotDrawing.Paint, as property: String) {
      switch paint {
      case .role(let role):
        classNames.append(registerClassName(prefix: property.prefix(1), role: role))
      case .color(let color):
        attributeMarkup += " \(property)=\"\(color.cssText)\""
      case .gradient(let stops, let from, let to):
        let id = makeGradient(for: paint, stops: stops, from: from, to: to)
        attributeMarkup += " \(property)=\"url(#\(id))\""
      }
    }
    if let fill {
      addPaint(fill.paint, as: "fill")
      if fill.opacity < 1 {
        attributeMarkup += Self.attribute("fill-opacity", fill.opacity, decimalPlaces: 2)
      }
    }
    if let stroke {
      addPaint(stroke.paint, as: "stroke")
      if stroke.widthPixels != 1 {
        attributeMarkup += Self.attribute("stroke-width", stroke.widthPixels, decimalPlaces: 2)
      }
      let dashes = stroke.dashPixelLengths.map { Self.numberText($0) }.joined(separator: " ")
      if !dashes.isEmpty {
        attributeMarkup += " stroke-dasharray=\"\(dashes)\""
      }
      if stroke.opacity < 1 {
        attributeMarkup += Self.attribute("stroke-opacity", stroke.opacity, decimalPlaces: 2)
      }
    }
    return (classNames.isEmpty ? "" : " class=\"\(classNames.joined(separator: " "))\"")
      + attributeMarkup
  }

  /// Returns the CSS class of a role: `f-…` for fills, `s-…` for strokes.
  private mutating func registerClassName(prefix: Substring, role: PlotColorRole) -> String {
    usedRoles.insert(role.withRepeatedTakeIndex)
    return "\(prefix)-\(role.cssName)"
  }

  /// Returns the identifier of a gradient. Equal gradients share one definition.
  private mutating func makeGradient(
    for paint: PlotDrawing.Paint, stops: [PlotDrawing.GradientStop], from: PlotPoint, to: PlotPoint
  ) -> String {
    if let existingID = gradientIDs[paint] { return existingID }
    let gradientID = "g\(gradientIDs.count)"
    gradientIDs[paint] = gradientID
    let endCoordinates = [("x1", from.x), ("y1", from.y), ("x2", to.x), ("y2", to.y)]
    let endAttributes = endCoordinates.map { Self.attribute($0, $1) }.joined()
    let stopElements = stops.map { stop in
      let offset = Self.attribute("offset", stop.positionFraction, decimalPlaces: 4)
      return "<stop\(offset) stop-color=\"\(stop.color.cssText)\"/>"
    }
    definitionMarkup +=
      """
      <linearGradient id="\(gradientID)" \
      gradientUnits="userSpaceOnUse"\(endAttributes)>\(stopElements.joined())</linearGradient>
      """
    return gradientID
  }

  private mutating func append(_ item: PlotDrawing.Item) throws(PlotError) {
    switch item {
    case .path(let lines, let fill, let stroke):
      let outline = lines.map { Self.pathData($0) + (fill == nil ? "" : "z") }.joined()
      bodyMarkup += "<path\(makePaintAttributes(fill: fill, stroke: stroke)) d=\"\(outline)\"/>"
    case .disc(let center, let radius, let fill, let stroke):
      let circle =
        Self.attribute("cx", center.x) + Self.attribute("cy", center.y)
        + Self.attribute("r", radius, decimalPlaces: 2)
      bodyMarkup += "<circle\(makePaintAttributes(fill: fill, stroke: stroke))\(circle)/>"
    case .rectangle(let box, let radius, let fill):
      let corners = radius > 0 ? Self.attribute("rx", radius) : ""
      bodyMarkup += "<rect\(makePaintAttributes(fill: fill))\(Self.boxAttributes(box))\(corners)/>"
    case .text(let runs, let position, let anchor):
      appendText(runs, at: position, anchor: anchor)
    case .raster(let raster):
      try appendRaster(raster)
    }
  }

  private mutating func appendText(
    _ runs: [PlotDrawing.TextRun], at position: PlotPoint, anchor: PlotDrawing.Anchor
  ) {
    guard let firstRun = runs.first else { return }
    let anchorAttribute = anchor == .start ? "" : " text-anchor=\"\(anchor.rawValue)\""
    let positionAttributes = Self.attribute("x", position.x) + Self.attribute("y", position.y)
    bodyMarkup += "<text\(makeFontAttributes(of: firstRun))\(positionAttributes)\(anchorAttribute)>"
    bodyMarkup += Self.escapedXML(firstRun.text)
    for run in runs.dropFirst() {
      let gap = Self.attribute("dx", run.leadingGapPixels)
      bodyMarkup +=
        "<tspan\(makeFontAttributes(of: run))\(gap)>\(Self.escapedXML(run.text))</tspan>"
    }
    bodyMarkup += "</text>"
  }

  private mutating func makeFontAttributes(of run: PlotDrawing.TextRun) -> String {
    let sizeAttribute = Self.attribute("font-size", run.fontSizePixels)
    let fontWeight = run.isBold ? 600 : 400
    let className = registerClassName(prefix: "f", role: run.role)
    return " class=\"\(className)\"\(sizeAttribute) font-weight=\"\(fontWeight)\""
  }

  /// Appends a raster as a rectangle whose mask is a PNG image of the cell opacities.
  private mutating func appendRaster(_ raster: PlotDrawing.Raster) throws(PlotError) {
    guard raster.rowCount > 0 else { return }
    let encodedImage = String(
      decoding: Base64.encoded(try CairoWriter.png(of: raster)), as: UTF8.self)
    let maskID = "m\(maskCount)"
    let boxMarkup = Self.boxAttributes(raster.filledBox)
    maskCount += 1
    definitionMarkup +=
      "<mask id=\"\(maskID)\" maskUnits=\"userSpaceOnUse\"\(boxMarkup)><image\(boxMarkup) "
      + "preserveAspectRatio=\"none\" href=\"data:image/png;base64,\(encodedImage)\"/></mask>"
    let fillAttributes = makePaintAttributes(fill: PlotDrawing.Fill(paint: raster.paint))
    bodyMarkup += "<rect\(fillAttributes)\(boxMarkup) mask=\"url(#\(maskID))\"/>"
  }

  private static func boxAttributes(_ box: PlotBox) -> String {
    let namedEdges = [
      ("x", box.left), ("y", box.top), ("width", box.width), ("height", box.height),
    ]
    return namedEdges.map { attribute($0, $1) }.joined()
  }

  private static func attribute(
    _ name: String, _ value: Double, decimalPlaces: Int = 1
  ) -> String {
    " \(name)=\"\(numberText(value, decimalPlaces: decimalPlaces))\""
  }

  /// Returns the path data of a polyline, rounded to a tenth of a pixel.
  static func pathData(_ points: [PlotPoint]) -> String {
    var pathText = ""
    var previousX = ""
    var previousY = ""
    for (index, point) in points.enumerated() {
      let x = numberText(point.x)
      let y = numberText(point.y)
      if index == 0 {
        pathText += "M\(x) \(y)"
      } else if x == previousX {
        if y != previousY {
          pathText += "V\(y)"
        }
      } else if y == previousY {
        pathText += "H\(x)"
      } else {
        pathText += "L\(x) \(y)"
      }
      previousX = x
      previousY = y
    }
    return pathText
  }

  /// Returns the text of a value rounded to a number of decimal places, without trailing zeros.
  static func numberText(_ value: Double, decimalPlaces: Int = 1) -> String {
    guard abs(value) < 1e10 else { return "0" }
    let decimalText = AxisTick.shortText(value, decimalPlaces: decimalPlaces)
    return decimalText.hasPrefix("\u{2212}") ? "-" + decimalText.dropFirst() : decimalText
  }

  /// Returns a text escaped for XML, with spaces instead of characters that XML does not allow.
  static func escapedXML(_ text: String) -> String {
    let allowedScalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
      scalar.value >= 32 && scalar.value != 0xFFFE && scalar.value != 0xFFFF ? scalar : " "
    }
    return String(String.UnicodeScalarView(allowedScalars)).escapedForMarkup
  }
}
