package import Reading
package import HapticModel

/// An AHAP file as it was written: everything is kept, also what no reader knows.
package struct AHAPDocument: Sendable {
  /// The text and its values.
  package let json: JSONDocument
  /// How the file was encoded; the text is UTF-8 whatever it was.
  let encoding: TextEncoding

  /// Reads the text of a file, or refuses it with the place of the first syntax error.
  ///
  /// The name appears in places and errors. What the file means is looked at by `read` and
  /// `examine`.
  package init(text: [UInt8], name: String) throws(InputError) {
    let encoding = TextEncoding(of: text)
    self.encoding = encoding
    do { json = try JSONDocument(text: encoding.utf8(text) ?? text, name: name) } catch {
      throw InputError(error, rule: .syntax, foreignCode: CoreHapticsCode.invalidPatternData)
    }
  }

  /// Reads the pattern as Apple's loader is documented to, or reports the first error.
  ///
  /// Unknown keys are ignored, values outside their range are moved to the nearest bound.
  package func read(options: ReadingOptions = ReadingOptions()) throws(InputError) -> AHAPReading {
    try decoded(options: options).reading
  }

  /// The pattern, and the decoder that has read it.
  func decoded(options: ReadingOptions = ReadingOptions()) throws(InputError) -> (
    reading: AHAPReading, decoder: PatternDecoder
  ) {
    var decoder = PatternDecoder(json, options: options)
    let reading = decoder.decode()
    guard decoder.log.errorCount == 0 else {
      let errors = decoder.log.findings(in: json).filter { $0.severity == .error }
      throw InputError(errors[0], otherErrorCount: decoder.log.errorCount - 1)
    }
    return (reading, decoder)
  }

  /// Reads the pattern, collects every error, and checks the text against every rule of AHAP.
  ///
  /// Allowances are not applied.
  package func examine(options: ReadingOptions = ReadingOptions()) -> Examination {
    var decoder = PatternDecoder(json, options: options)
    let reading = decoder.decode()
    var allowances: [Examination.Allowance] = []
    if options.wantsFindings {
      decoder.checkText()
      if encoding != .utf8 {
        decoder.log.add(
          .textEncoding, at: json.root, offset: 0, "the text is \(encoding.rawValue)",
          hint: "save it as UTF-8; Temblor and Apple read it, other readers may not")
      }
      allowances = decoder.allowances()
    }
    let isReadable = decoder.log.errorCount == 0
    let findings = decoder.log.findings(in: json, for: options)
    let ignored = options.wantsFindings ? findings.filter { $0.rule == Rule.unknownParameter.id } : []
    return Examination(
      composition: isReadable ? reading.composition : nil, findings: findings, errorCount: decoder.log.errorCount,
      losses: ignored.map { Loss(.dropped, .composition, at: $0.place, $0.message) },
      places: SourcePlaces(
        AHAPPlaces(
          json: json, entries: (json.root["Pattern"] ?? json.root).index, events: decoder.eventValues,
          parameters: decoder.parameterValues, curves: decoder.curveValues
        ).place(of:)),
      sounds: decoder.waveforms.map { Examination.SoundReference(path: $0.string ?? "", place: $0.place) },
      allowances: allowances, details: reading.details)
  }

  /// Makes the file of a pattern: events first, then parameters, then curves, each in its order.
  ///
  /// Values are written as they are. Reading the file back gives an equal pattern if they are
  /// within their ranges and control points are sorted. A number that is not finite is refused.
  package init(pattern: HapticPattern, metadata: AHAPMetadata = AHAPMetadata(), name: String = "pattern")
    throws(InputError)
  {
    if let path = pattern.firstInfinity {
      throw InputError(
        Finding(
          .outOfRange, severity: .error, place: SourcePlace(name: name, path: path),
          "non-finite numbers (NaN, infinity) cannot be written", foreignCode: CoreHapticsCode.invalidPatternData))
    }
    var writer = JSONWriter(layout: .compact)
    writer.object { file in
      file.member("Version", 1.0)
      if !metadata.items.isEmpty {
        file.object("Metadata") { object in for item in metadata.items { object.member(item.name, item.text) } }
      }
      file.array("Pattern") { list in
        for event in pattern.events { list.object { $0.object("Event") { $0.write(event) } } }
        for parameter in pattern.parameters {
          list.object { entry in
            entry.object("Parameter") { object in
              object.member("ParameterID", parameter.id.rawValue)
              object.member("Time", parameter.time)
              object.member("ParameterValue", parameter.value)
            }
          }
        }
        for curve in pattern.curves { list.object { $0.object("ParameterCurve") { $0.write(curve) } } }
      }
    }
    try self.init(text: writer.finish(), name: name)
  }

  /// The canonical text: the same for all files that say the same, and easy to compare by line.
  ///
  /// Two spaces per level; known keys in the order of ``AHAPShapes``, others behind them in their own; event
  /// parameters, control points and parameters on one line each; known numbers as the shortest decimal with a point,
  /// others as written; strings with no escape they do not need; a line break at the end. Formatting it again changes
  /// nothing.
  package func formatted() -> [UInt8] { AHAPShapes.file.canonical(json.root, normalizesNumbers: true) }
}

extension AHAPDocument: Equatable {
  /// Whether two files say the same: whether their canonical texts are equal.
  package static func == (left: AHAPDocument, right: AHAPDocument) -> Bool { left.formatted() == right.formatted() }
}

extension JSONObjectWriter {
  fileprivate mutating func write(_ event: HapticEvent) {
    member("Time", event.time)
    member("EventType", event.kind.rawValue)
    if let duration = event.duration { member("EventDuration", duration) }
    if let waveform = event.waveform {
      member("EventWaveformPath", waveform.path)
      member("EventWaveformUseVolumeEnvelope", waveform.usesVolumeEnvelope)
      member("EventWaveformLoopEnabled", waveform.isLooping)
    }
    let identifiers = event.parameters.identifiers
    guard !identifiers.isEmpty else { return }
    array("EventParameters") { list in
      for id in identifiers {
        list.object { object in
          object.member("ParameterID", id.rawValue)
          object.member("ParameterValue", event.parameters[id] ?? 0)
        }
      }
    }
  }

  fileprivate mutating func write(_ curve: ParameterCurve) {
    member("ParameterID", curve.id.rawValue)
    member("Time", curve.time)
    array("ParameterCurveControlPoints") { list in
      for point in curve.controlPoints {
        list.object { object in
          object.member("Time", point.time)
          object.member("ParameterValue", point.value)
        }
      }
    }
  }
}

/// What a file holds.
package struct AHAPReading: Equatable, Sendable {
  /// The pattern: values within their ranges, control points sorted and relative to their curve.
  package var pattern = HapticPattern()
  /// The version of Core Haptics the file says it needs, or nothing.
  package var version: Double?
  /// What the file says about itself.
  package var metadata = AHAPMetadata()
  /// Whether the file counts control points from the start of the pattern, and they were moved.
  package var usesAbsoluteCurveTimes = false

  /// The pattern with the title and the notes of the file.
  package var composition: HapticComposition {
    HapticComposition(
      layers: [HapticComposition.Layer(pattern)], title: metadata["Project"], notes: metadata["Description"],
      author: metadata["Created By"])
  }

  /// What the file says about itself: its version, its metadata, and what its curves count from.
  package var details: [(name: String, value: String)] {
    var details: [(name: String, value: String)] = []
    if let version { details.append(("version", "\(version)")) }
    details += metadata.items.map { ($0.name, $0.text) }
    if usesAbsoluteCurveTimes { details.append(("curveTimes", "absolute")) }
    return details
  }

  /// How many events of a kind the pattern has. Takes time in proportion to the events.
  package func eventCount(of kind: HapticEvent.Kind) -> Int { pattern.events.count { $0.kind == kind } }
}

/// What a file says about itself in words: names with texts, in the order of the file.
package struct AHAPMetadata: Equatable, Sendable {
  /// One name and its text.
  package struct Item: Equatable, Sendable {
    /// The name, as `Project`, `Created` or `Description`.
    package var name: String
    /// The text.
    package var text: String

    /// Makes an item.
    package init(name: String, text: String) {
      self.name = name
      self.text = text
    }
  }

  /// The names and texts; a name may repeat.
  package var items: [Item]

  /// Makes metadata of items.
  package init(items: [Item] = []) { self.items = items }

  /// The text of a name, the last where it repeats, or nothing.
  package subscript(name: String) -> String? { items.last { $0.name == name }?.text }
}

extension AHAPMetadata: ExpressibleByDictionaryLiteral {
  /// Makes metadata of names and texts in their order.
  package init(dictionaryLiteral elements: (String, String)...) { items = elements.map { Item(name: $0, text: $1) } }
}
