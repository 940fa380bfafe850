public import HapticFormats
internal import HapticModel
internal import Reading

extension HapticFormat {
  /// The XML format of Android's vibration effects up to API 36. Texts are checked against every
  /// rule of Android's parser.
  ///
  /// Primitives and predefined effects, which devices play by name, are approximated by
  /// ``VibrationPrimitives``.
  ///
  /// A composition is written as one effect, in whole milliseconds: `basic-envelope` (intensity and
  /// sharpness), `waveform-envelope`, `waveform`, or `primitives` (only transients).
  public static let androidXML = HapticFormat(
    "android-xml", title: "Android vibration XML", fileExtensions: ["xml"],
    sharesFileExtensions: true,
    ruleNamePrefix: "android/",
    rules: Rule.androidXMLRules,
    dialects: ["basic-envelope", "waveform-envelope", "waveform", "primitives"], keepsHertz: true,
    valueResolution: FormatResolution(
      intensityStep: 0.002, timeStepSeconds: 0.001, frequencyStepHertz: 1),
    recognize: { bytes in
      guard let root = XMLTree.rootName(of: bytes) else { return .unrecognized }
      return ["vibration-effect", "vibration", "vibration-select"].contains(root)
        ? .certain : .possible
    },
    read: { (file, options) throws(InputError) in
      let tree = try xmlTree(of: file)
      var decoder = VibrationDecoder()
      decoder.decode(tree)
      let lines = LineIndex()
      let main = decoder.firstEffectByteOffset
      @Sendable func location(_ element: Int, _ offset: Int) -> FileLocation {
        lines.location(
          of: offset, in: tree.textBytes, name: file.name, path: tree.path(to: element))
      }
      let reader =
        decoder.log.errorCount == 0
        ? VibrationReader(decoder.effects.first, options: options) : nil
      return ReadResult(
        composition: reader?.composition,
        findings: decoder.log.findings(for: options, location: location),
        errorCount: decoder.log.errorCount,
        losses: options.wantsFindings ? reader?.losses.lossesWithOmittedCounts() ?? [] : [],
        sourceMap: SourceMap { _ in location(main, main) })
    },
    write: { (composition, options) throws(InputError) in
      try composition.checkFinite(.androidInvalidValue)
      let effect: VibrationEffect
      var losses: LossLog
      var hertzLosses = LossLog()
      let composition =
        options.dialect == "waveform-envelope"
        ? composition : composition.convertingStatedHertzToDefaultScale(losses: &hertzLosses)
      if options.dialect == "waveform" {
        let steps = VibrationSteps(composition, options: options, isContinuous: false)
        effect = .waveform(steps.steps, repeatIndex: steps.repeatIndex)
        losses = steps.losses
      } else {
        var builder = VibrationBuilder(composition, options: options)
        effect =
          switch options.dialect {
          case "waveform-envelope": builder.makeWaveformEnvelope()
          case "primitives": builder.makePrimitives()
          default: builder.makeBasicEnvelope()
          }
        losses = builder.losses
      }
      losses.addTextLosses(of: composition)
      return WrittenFiles(
        [WrittenFiles.File(VibrationWriter.xmlText(of: effect))],
        losses: hertzLosses.lossesWithOmittedCounts() + losses.lossesWithOmittedCounts())
    },
    // Comments are kept.
    canonicalize: { (file) throws(InputError) in
      VibrationWriter.xmlText(of: try xmlTree(of: file, keepsComments: true))
    })

  private static func xmlTree(of file: SourceFile, keepsComments: Bool = false) throws(InputError)
    -> XMLTree
  {
    do {
      return try XMLTree(file.bytes, keepsComments: keepsComments)
    } catch {
      throw InputError(
        Finding(
          .androidInvalidSyntax,
          location: LineIndex().location(of: error.byteOffset, in: file.bytes, name: file.name),
          error.message,
          suggestion: error.suggestion))
    }
  }
}

// MARK: - Reading

/// Converts the elements of vibration XML into effects, and logs findings.
///
/// Source: the parsers of aosp-mirror/platform_frameworks_base
/// (`com.android.internal.vibrator.persistence`, 02d3e65), which accept only the elements and
/// attributes that are accepted here.
private struct VibrationDecoder {
  typealias Element = XMLTree.Element

  var log = FindingLog()
  /// The effects in the file. There are several if the device selects one of them.
  private(set) var effects: [VibrationEffect] = []
  private(set) var firstEffectByteOffset = 0
  private var xmlTree: XMLTree?

  private static let maximumDurationMilliseconds = Int(Int32.max)
  private static let fractionLimits: (range: ClosedRange<Float>, text: String) = (0...1, "0 to 1")
  private static let hertzLimits: (range: ClosedRange<Float>, text: String) = (
    .leastNonzeroMagnitude ... .greatestFiniteMagnitude, "greater than 0"
  )
  private static let elementNames = [
    "control-point", "waveform-entry", "primitive-effect", "waveform-effect",
    "basic-envelope-effect",
    "waveform-envelope-effect", "predefined-effect", "repeating-effect", "vendor-effect",
    "vibration-effect",
    "vibration-select",
  ]

  mutating func decode(_ tree: XMLTree) {
    guard let root = tree.root else { return }
    self.xmlTree = tree
    firstEffectByteOffset = root.byteOffset
    switch root.name {
    case "vibration-effect", "vibration":
      decodeVibration(root)
    case "vibration-select":
      checkAttributes(of: root, allowed: [])
      let effectElements = root.children.filter {
        expectElement("vibration-effect", element: $0, in: root)
      }
      if let first = effectElements.first {
        firstEffectByteOffset = first.byteOffset
      }
      for child in effectElements {
        decodeVibration(child)
      }
      if effectElements.count != 1 {
        addFinding(
          .androidSeveralEffects, at: root,
          effectElements.isEmpty
            ? "vibration-select is empty"
            : """
            only the first of \(effectElements.count) effects is read; a device plays the first \
            effect that it supports
            """)
      }
    default:
      addFinding(
        .androidUnknownRoot, at: root,
        "the root is \(root.name.quoted()), not \"vibration-effect\" or \"vibration-select\"")
    }
  }

  private mutating func decodeVibration(_ element: Element) {
    checkAttributes(of: element, allowed: [])
    if let decodedEffect = decodeEffect(of: element, hasUnenclosedEntries: false) {
      effects.append(decodedEffect)
    }
  }

  /// Returns the effect that an element contains.
  ///
  /// - Parameters:
  ///   - element: The element.
  ///   - hasUnenclosedEntries: A Boolean value that indicates whether waveform entries have no
  ///     enclosing element, as within a repeating effect, in which nothing else repeats.
  private mutating func decodeEffect(
    of element: Element, hasUnenclosedEntries: Bool
  ) -> VibrationEffect? {
    guard let firstChild = element.children.first else {
      addFinding(.androidEmptyEffect, at: element, "\(element.name) is empty")
      return nil
    }
    var decodedEffect: VibrationEffect?
    switch firstChild.name {
    case "primitive-effect":
      return .primitives(
        element.children.filter { expectElement("primitive-effect", element: $0, in: element) }
          .compactMap {
            decodePrimitive($0)
          })
    case "waveform-entry" where hasUnenclosedEntries:
      let steps = decodeSteps(element.children, in: element)
      checkWaveformLength(of: steps, element: element)
      return .waveform(steps, repeatIndex: nil)
    case "predefined-effect":
      checkEmptyElement(firstChild, attributes: ["name"])
      let predefinedName = decodeKeyword(
        "name", of: firstChild, among: VibrationPrimitives.predefinedNames)
      decodedEffect = predefinedName.map { .predefined($0) }
    case "basic-envelope-effect":
      decodedEffect = decodeEnvelope(firstChild, isBasic: true)
    case "waveform-envelope-effect":
      decodedEffect = decodeEnvelope(firstChild, isBasic: false)
    case "waveform-effect" where !hasUnenclosedEntries:
      decodedEffect = decodeWaveform(firstChild)
    case "repeating-effect" where !hasUnenclosedEntries:
      decodedEffect = decodeRepeating(firstChild)
    default:
      reportUnexpectedElement(firstChild, in: element)
    }
    for child in element.children.dropFirst() {
      reportUnexpectedElement(child, in: element)
    }
    return decodedEffect
  }

  private mutating func decodePrimitive(_ element: Element) -> VibrationEffect.Primitive? {
    checkEmptyElement(element, attributes: ["name", "scale", "delayMs", "delayType"])
    let primitiveScale = decodeNumber(
      "scale", of: element, isOptional: true, limits: Self.fractionLimits)
    let primitiveDelay = decodeInteger(
      "delayMs", of: element, isOptional: true, range: 0...Self.maximumDurationMilliseconds)
    let delayType = attributeText("delayType", of: element)
    if let delayType, delayType != "pause", delayType != "relative_start_offset" {
      reportInvalidAttribute(
        "delayType", of: element, reason: "must be pause or relative_start_offset")
    }
    return decodeKeyword("name", of: element, among: VibrationPrimitives.primitiveNames).map {
      VibrationEffect.Primitive(
        name: $0, strengthFactor: primitiveScale ?? 1, delayMilliseconds: primitiveDelay ?? 0,
        delaysFromPreviousStart: delayType == "relative_start_offset"
      )
    }
  }

  private mutating func decodeWaveform(_ element: Element) -> VibrationEffect {
    checkAttributes(of: element, allowed: [])
    var waveformSteps: [VibrationEffect.Step] = []
    var repeatIndex: Int?
    for child in element.children {
      if repeatIndex != nil {
        reportUnexpectedElement(child, in: element)
      } else if child.name == "repeating" {
        repeatIndex = waveformSteps.count
        checkAttributes(of: child, allowed: [])
        if child.children.isEmpty {
          addFinding(.androidEmptyEffect, at: child, "repeating is empty")
        }
        waveformSteps += decodeSteps(child.children, in: child)
      } else {
        waveformSteps += decodeSteps([child], in: element)
      }
    }
    checkWaveformLength(of: waveformSteps, element: element)
    return .waveform(waveformSteps, repeatIndex: repeatIndex)
  }

  private mutating func decodeSteps(_ entries: [Element], in parent: Element) -> [VibrationEffect
    .Step]
  {
    entries.filter { expectElement("waveform-entry", element: $0, in: parent) }.compactMap {
      entry in
      checkEmptyElement(entry, attributes: ["durationMs", "amplitude"])
      let duration = decodeInteger(
        "durationMs", of: entry, range: 0...Self.maximumDurationMilliseconds)
      if attributeText("amplitude", of: entry) == "default" {
        return duration.map { .init(durationMilliseconds: $0, amplitudeCode: nil) }
      }
      let amplitude = decodeInteger(
        "amplitude", of: entry, range: 0...VibrationEffect.maximumAmplitudeCode)
      guard let duration, let amplitude else { return nil }
      return .init(durationMilliseconds: duration, amplitudeCode: amplitude)
    }
  }

  private mutating func checkWaveformLength(of steps: [VibrationEffect.Step], element: Element) {
    guard log.errorCount == 0, !steps.contains(where: { $0.durationMilliseconds > 0 }) else {
      return
    }
    addFinding(.androidHasNoLength, at: element, "the durations of the waveform are all 0")
  }

  private mutating func decodeEnvelope(_ element: Element, isBasic: Bool) -> VibrationEffect {
    let xmlNames = VibrationEffect.xmlNames(isBasic: isBasic)
    let toneLimits = isBasic ? Self.fractionLimits : Self.hertzLimits
    checkAttributes(of: element, allowed: [xmlNames.initial])
    let initialTone = decodeNumber(
      xmlNames.initial, of: element, isOptional: true, limits: toneLimits)
    var controlPoints: [VibrationEffect.ControlPoint] = []
    for child in element.children where expectElement("control-point", element: child, in: element)
    {
      checkEmptyElement(child, attributes: [xmlNames.level, xmlNames.tone, "durationMs"])
      let level = decodeNumber(xmlNames.level, of: child, limits: Self.fractionLimits) ?? 0
      let tone = decodeNumber(xmlNames.tone, of: child, limits: toneLimits) ?? (isBasic ? 0 : 1)
      let duration =
        decodeInteger("durationMs", of: child, range: 1...Self.maximumDurationMilliseconds) ?? 1
      controlPoints.append(
        .init(level: level, sharpnessOrHertz: tone, rampDurationMilliseconds: duration))
    }
    if controlPoints.isEmpty {
      addFinding(.androidEmptyEffect, at: element, "\(element.name) has no control-point")
    }
    if isBasic, let lastPoint = controlPoints.last, lastPoint.level != 0 {
      addFinding(
        .androidEnvelopeEndsAboveZero, at: element,
        "the envelope ends with intensity \(lastPoint.level), not 0",
        hint: "add a control-point with intensity 0")
    }
    return .envelope(isBasic: isBasic, initial: initialTone, controlPoints)
  }

  private mutating func decodeRepeating(_ element: Element) -> VibrationEffect? {
    checkAttributes(of: element, allowed: [])
    var remainingChildren = element.children[...]
    var preamble: VibrationEffect?
    if let preambleElement = remainingChildren.first, preambleElement.name == "preamble" {
      checkAttributes(of: preambleElement, allowed: [])
      preamble = decodeEffect(of: preambleElement, hasUnenclosedEntries: true)
      remainingChildren.removeFirst()
    }
    guard let repeatingElement = remainingChildren.popFirst() else {
      addFinding(.androidEmptyEffect, at: element, "repeating-effect has no repeating")
      return nil
    }
    guard expectElement("repeating", element: repeatingElement, in: element) else { return nil }
    checkAttributes(of: repeatingElement, allowed: [])
    let repeatingEffect = decodeEffect(of: repeatingElement, hasUnenclosedEntries: true)
    for child in remainingChildren {
      reportUnexpectedElement(child, in: element)
    }
    return repeatingEffect.map { .repeating(preamble: preamble, $0) }
  }

  // MARK: Elements and attributes

  private mutating func addFinding(
    _ rule: Rule, at element: Element, offset: Int? = nil, _ message: String, hint: String? = nil
  ) {
    log.add(
      rule, valueIndex: element.byteOffset, offset: offset ?? element.byteOffset, message,
      suggestion: hint)
  }

  private mutating func expectElement(_ name: String, element: Element, in parent: Element) -> Bool
  {
    if element.name == name { return true }
    reportUnexpectedElement(element, in: parent)
    return false
  }

  private mutating func reportUnexpectedElement(_ element: Element, in parent: Element) {
    let elementName = element.name
    if elementName == "vendor-effect" {
      return addFinding(
        .androidUnreadableVendorEffect, at: element, "a vendor effect cannot be read")
    }
    addFinding(
      .androidUnexpectedElement, at: element,
      "unexpected element \(elementName.quoted()) in \(parent.name)",
      hint: Self.elementNames.contains(elementName)
        ? nil : JSONNameList(Self.elementNames).suggestion(for: elementName))
  }

  /// Reports unexpected attributes and children of an element that must be empty.
  private mutating func checkEmptyElement(_ element: Element, attributes: [String]) {
    checkAttributes(of: element, allowed: attributes)
    for child in element.children {
      reportUnexpectedElement(child, in: element)
    }
  }

  private mutating func checkAttributes(of element: Element, allowed: [String]) {
    for attribute in element.attributes where !allowed.contains(attribute.name) {
      addFinding(
        .androidUnknownAttribute, at: element,
        offset: attributeOffset(of: attribute.name, in: element),
        "unexpected attribute \(attribute.name.quoted())",
        hint: JSONNameList(allowed).suggestion(for: attribute.name))
    }
  }

  private func attributeText(_ name: String, of element: Element) -> String? {
    element.attributes.first { $0.name == name }?.value
  }

  private func attributeOffset(of name: String, in element: Element) -> Int {
    let attributeIndex = element.attributes.firstIndex { $0.name == name } ?? 0
    return xmlTree?.offset(ofAttribute: attributeIndex, in: element) ?? element.byteOffset
  }

  private mutating func decodeAttribute<Value>(
    _ name: String, of element: Element, isOptional: Bool, parse: (String) -> Value?,
    reason: @autoclosure () -> String
  ) -> Value? {
    guard let statedText = attributeText(name, of: element) else {
      if !isOptional {
        addFinding(
          .androidMissingAttribute, at: element,
          "\(element.name) must have the attribute \"\(name)\"")
      }
      return nil
    }
    if let parsedValue = parse(statedText) { return parsedValue }
    reportInvalidAttribute(name, of: element, reason: reason())
    return nil
  }

  private mutating func reportInvalidAttribute(_ name: String, of element: Element, reason: String)
  {
    let quotedValueText = (attributeText(name, of: element) ?? "").quoted(limit: 24)
    addFinding(
      .androidInvalidValue, at: element, offset: attributeOffset(of: name, in: element),
      "\(name) is \(quotedValueText); \(reason)")
  }

  private mutating func decodeKeyword(_ name: String, of element: Element, among keywords: [String])
    -> String?
  {
    decodeAttribute(
      name, of: element, isOptional: false, parse: { keywords.contains($0) ? $0 : nil },
      reason: "must be one of " + keywords.joined(separator: ", "))
  }

  private mutating func decodeNumber(
    _ name: String, of element: Element, isOptional: Bool = false,
    limits: (range: ClosedRange<Float>, text: String)
  ) -> Float? {
    decodeAttribute(
      name, of: element, isOptional: isOptional,
      parse: { text in
        // Digits, a sign, a point, and an exponent; Swift accepts other notations, too.
        guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || "+-.eE".utf8.contains($0) }) else {
          return nil
        }
        return Double(text).map { Float($0) }.flatMap { limits.range.contains($0) ? $0 : nil }
      }, reason: "must be a number \(limits.text)")
  }

  private mutating func decodeInteger(
    _ name: String, of element: Element, isOptional: Bool = false, range: ClosedRange<Int>
  ) -> Int? {
    let statedText = attributeText(name, of: element) ?? ""
    return decodeAttribute(
      name, of: element, isOptional: isOptional,
      parse: { Int($0).flatMap { range.contains($0) ? $0 : nil } },
      reason: Self.integerRequirement(name, range: range, statedText: statedText))
  }

  /// Returns the requirement that an integer attribute violates, such as `must be 0 to 255`.
  ///
  /// The upper limit of a duration is stated only for a number that exceeds it.
  private static func integerRequirement(
    _ name: String, range: ClosedRange<Int>, statedText: String
  ) -> String {
    guard range.upperBound == maximumDurationMilliseconds else {
      let keywordText = name == "amplitude" ? " or default" : ""
      return "must be \(range.lowerBound) to \(range.upperBound)\(keywordText)"
    }
    let isWholeNumber =
      !statedText.isEmpty && statedText.utf8.allSatisfy { (0x30...0x39).contains($0) }
    if isWholeNumber, let statedNumber = Double(statedText),
      statedNumber > Double(range.upperBound)
    {
      return "must be at most \(range.upperBound)"
    }
    return "must be a whole number of at least \(range.lowerBound)"
  }
}

// MARK: - Writing

/// A writer of effects, or of parsed XML elements, as vibration XML.
private struct VibrationWriter {
  private var outputBytes: [UInt8] = []
  private var elementDepth = 0

  static func xmlText(of effect: VibrationEffect) -> [UInt8] {
    var vibrationWriter = VibrationWriter()
    vibrationWriter.writeElement("vibration-effect") {
      $0.writeEffect(effect, hasUnenclosedEntries: false)
    }
    return vibrationWriter.outputBytes
  }

  static func xmlText(of tree: XMLTree) -> [UInt8] {
    var vibrationWriter = VibrationWriter()
    for element in tree.topLevelItems {
      vibrationWriter.writeCanonicalElement(element)
    }
    return vibrationWriter.outputBytes
  }

  private mutating func writeEffect(_ effect: VibrationEffect, hasUnenclosedEntries: Bool) {
    switch effect {
    case .predefined(let name):
      writeElement("predefined-effect", attributes: [("name", name)])
    case .primitives(let primitives):
      for primitive in primitives {
        var attributes = [("name", primitive.name)]
        if primitive.strengthFactor != 1 {
          attributes.append(("scale", "\(primitive.strengthFactor)"))
        }
        if primitive.delayMilliseconds != 0 {
          attributes.append(("delayMs", "\(primitive.delayMilliseconds)"))
        }
        if primitive.delaysFromPreviousStart {
          attributes.append(("delayType", "relative_start_offset"))
        }
        writeElement("primitive-effect", attributes: attributes)
      }
    case .waveform(let steps, _) where hasUnenclosedEntries:
      writeEntries(steps[...])
    case .waveform(let steps, let repeatIndex):
      writeElement("waveform-effect") { writer in
        writer.writeEntries(steps[..<(repeatIndex ?? steps.count)])
        if let repeatIndex {
          writer.writeElement("repeating") { $0.writeEntries(steps[repeatIndex...]) }
        }
      }
    case .envelope(let isBasic, let initial, let points):
      let names = VibrationEffect.xmlNames(isBasic: isBasic)
      writeElement(names.element, attributes: initial.map { [(names.initial, "\($0)")] } ?? []) {
        writer in
        for point in points {
          writer.writeElement(
            "control-point",
            attributes: [
              (names.level, "\(point.level)"), (names.tone, "\(point.sharpnessOrHertz)"),
              ("durationMs", "\(point.rampDurationMilliseconds)"),
            ])
        }
      }
    case .repeating(let preamble, let repeating):
      writeElement("repeating-effect") { writer in
        if let preamble {
          writer.writeElement("preamble") { $0.writeEffect(preamble, hasUnenclosedEntries: true) }
        }
        writer.writeElement("repeating") { $0.writeEffect(repeating, hasUnenclosedEntries: true) }
      }
    }
  }

  private mutating func writeEntries(_ steps: ArraySlice<VibrationEffect.Step>) {
    for step in steps {
      writeElement(
        "waveform-entry",
        attributes: [
          ("durationMs", "\(step.durationMilliseconds)"),
          ("amplitude", step.amplitudeCode.map { "\($0)" } ?? "default"),
        ])
    }
  }

  private mutating func writeElement(
    _ name: String, attributes: [(String, String)] = [],
    contents: ((inout VibrationWriter) -> Void)? = nil
  ) {
    writeIndented("<" + name)
    for (name, value) in attributes {
      outputBytes += " \(name)=\"\(Self.escapedAttributeValue(value))\"".utf8
    }
    outputBytes += (contents == nil ? " />\n" : ">\n").utf8
    guard let contents else { return }
    elementDepth += 1
    contents(&self)
    elementDepth -= 1
    writeIndented("</\(name)>\n")
  }

  private mutating func writeIndented(_ text: String) {
    outputBytes += repeatElement(UInt8(ascii: " "), count: 2 * elementDepth)
    outputBytes += text.utf8
  }

  private static func escapedAttributeValue(_ value: String) -> String {
    guard value.utf8.contains(where: { [0x26, 0x3C, 0x22, 0x09, 0x0A, 0x0D].contains($0) }) else {
      return value
    }
    var escapedText = ""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "&": escapedText += "&amp;"
      case "<": escapedText += "&lt;"
      case "\"": escapedText += "&quot;"
      case "\t", "\n", "\r": escapedText += "&#\(scalar.value);"
      default: escapedText.unicodeScalars.append(scalar)
      }
    }
    return escapedText
  }

  /// The order of attributes in written files.
  ///
  /// In entries, the duration comes first.
  private static let attributeOrder = [
    "name", "initialSharpness", "initialFrequencyHz", "intensity", "sharpness", "amplitude",
    "frequencyHz", "scale",
    "delayMs", "delayType", "durationMs",
  ]

  private mutating func writeCanonicalElement(_ element: XMLTree.Element) {
    if element.isComment { return writeIndented(element.name + "\n") }
    func attributeRank(_ name: String) -> Int {
      if element.name == "waveform-entry", name == "durationMs" { return -1 }
      return Self.attributeOrder.firstIndex(of: name) ?? .max
    }
    let sortedAttributes = element.attributes.enumerated().sorted {
      (attributeRank($0.element.name), $0.offset) < (attributeRank($1.element.name), $1.offset)
    }.map { ($0.element.name, $0.element.value) }
    guard !element.children.isEmpty else {
      return self.writeElement(element.name, attributes: sortedAttributes)
    }
    self.writeElement(element.name, attributes: sortedAttributes) { writer in
      for child in element.children {
        writer.writeCanonicalElement(child)
      }
    }
  }
}
