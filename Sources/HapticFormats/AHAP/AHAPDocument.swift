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
    var decoder = PatternDecoder(json, options: options)
    let reading = decoder.decode()
    guard decoder.log.errorCount == 0 else {
      let errors = decoder.log.findings(in: json).filter { $0.severity == .error }
      throw InputError(errors[0], otherErrorCount: decoder.log.errorCount - 1)
    }
    return reading
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
    return Examination(
      composition: isReadable ? reading.composition : nil, findings: decoder.log.findings(in: json, for: options),
      errorCount: decoder.log.errorCount,
      places: AHAPPlaces(
        json: json, entries: decoder.entries?.index ?? json.root.index, events: decoder.eventValues,
        parameters: decoder.parameterValues, curves: decoder.curveValues),
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
    try self.init(
      entries: pattern.events.map(AHAPEntry.event) + pattern.parameters.map(AHAPEntry.parameter)
        + pattern.curves.map(AHAPEntry.curve), metadata: metadata, name: name)
  }

  /// Makes a file of entries in their order; their numbers must be finite.
  init(entries: [AHAPEntry], metadata: AHAPMetadata, name: String = "pattern") throws(InputError) {
    var writer = JSONWriter(layout: .compact)
    writer.object { file in
      file.member(.version, 1.0)
      if !metadata.items.isEmpty {
        file.object(AHAPKey.metadata.rawValue) { object in
          for item in metadata.items { object.member(item.name, item.text) }
        }
      }
      file.array(AHAPKey.pattern.rawValue) { list in
        for entry in entries {
          list.object { object in
            switch entry {
            case .event(let event): object.object(AHAPKey.event.rawValue) { $0.write(event) }
            case .parameter(let parameter): object.object(AHAPKey.parameter.rawValue) { $0.write(parameter) }
            case .curve(let curve): object.object(AHAPKey.parameterCurve.rawValue) { $0.write(curve) }
            }
          }
        }
      }
    }
    try self.init(text: writer.finish(), name: name)
  }
}

/// One entry of a file.
enum AHAPEntry {
  case event(HapticEvent)
  case parameter(DynamicParameter)
  case curve(ParameterCurve)
}

extension JSONObjectWriter {
  fileprivate mutating func member(_ key: AHAPKey, _ value: Double) { member(key.rawValue, value) }

  fileprivate mutating func write(_ event: HapticEvent) {
    member(.time, event.time)
    member(AHAPKey.eventType.rawValue, event.kind.rawValue)
    if let duration = event.duration { member(.eventDuration, duration) }
    if let waveform = event.waveform {
      member(AHAPKey.eventWaveformPath.rawValue, waveform.path)
      member(AHAPKey.eventWaveformUseVolumeEnvelope.rawValue, waveform.usesVolumeEnvelope)
      member(AHAPKey.eventWaveformLoopEnabled.rawValue, waveform.isLooping)
    }
    let identifiers = event.parameters.identifiers
    guard !identifiers.isEmpty else { return }
    array(AHAPKey.eventParameters.rawValue) { list in
      for id in identifiers {
        list.object { object in
          object.member(AHAPKey.parameterID.rawValue, id.rawValue)
          object.member(AHAPKey.parameterValue.rawValue, event.parameters[id] ?? 0)
        }
      }
    }
  }

  fileprivate mutating func write(_ parameter: DynamicParameter) {
    member(AHAPKey.parameterID.rawValue, parameter.id.rawValue)
    member(.time, parameter.time)
    member(AHAPKey.parameterValue.rawValue, parameter.value)
  }

  fileprivate mutating func write(_ curve: ParameterCurve) {
    member(AHAPKey.parameterID.rawValue, curve.id.rawValue)
    member(.time, curve.time)
    array(AHAPKey.parameterCurveControlPoints.rawValue) { list in
      for point in curve.controlPoints {
        list.object { object in
          object.member(.time, point.time)
          object.member(AHAPKey.parameterValue.rawValue, point.value)
        }
      }
    }
  }
}

/// What a file holds.
package struct AHAPReading: Equatable, Sendable {
  /// The pattern: values within their ranges, control points sorted and relative to their curve.
  package var pattern: HapticPattern
  /// The version of Core Haptics the file says it needs, or nothing.
  package var version: Double?
  /// What the file says about itself.
  package var metadata: AHAPMetadata
  /// Whether the file counts control points from the start of the pattern, and they were moved.
  package var usesAbsoluteCurveTimes: Bool

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

  /// How many control points the curves have together.
  package var controlPointCount: Int { pattern.curves.reduce(0) { $0 + $1.controlPoints.count } }
}
