package import HapticModel
package import Reading

/// The text of an AHAP file, including its layout and unknown keys.
package struct AHAPDocument: Sendable {
  /// The parsed JSON document.
  package let jsonDocument: JSONDocument
  /// The encoding of the original file. `jsonDocument` is always UTF-8.
  let encoding: TextEncoding

  /// Parses the text of a file, or throws the first syntax error. To interpret the content, use
  /// `read` or `examine`.
  ///
  /// - Parameters:
  ///   - text: The bytes of the file.
  ///   - name: The file name in locations and errors.
  package init(text: [UInt8], name: String) throws(InputError) {
    let encoding = TextEncoding(of: text)
    self.encoding = encoding
    do {
      jsonDocument = try JSONDocument(text: encoding.utf8Bytes(of: text) ?? text, name: name)
    } catch {
      throw InputError(
        error, rule: .invalidSyntax, errorCode: CoreHapticsErrorCode.invalidPatternData)
    }
  }

  /// Reads the pattern according to Apple's documentation, or throws the first error. Unknown keys
  /// are ignored, and out-of-range values are clamped.
  package func read(options: ReadingOptions = ReadingOptions()) throws(InputError) -> AHAPContent {
    try decodedWithFindings(options: options).content
  }

  /// Reads the pattern and returns it with the decoder that read it, or throws the first error.
  func decodedWithFindings(options: ReadingOptions = ReadingOptions()) throws(InputError) -> (
    content: AHAPContent, decoder: AHAPDecoder
  ) {
    var decoder = AHAPDecoder(jsonDocument, options: options)
    let decodedContent = decoder.decode()
    guard decoder.findingLog.errorCount == 0 else {
      let errors = decoder.findingLog.findings(in: jsonDocument).filter { $0.severity == .error }
      throw InputError(errors[0], additionalErrorCount: decoder.findingLog.errorCount - 1)
    }
    return (decodedContent, decoder)
  }

  /// Reads the pattern and checks the text against all AHAP rules. Suppressions are not applied.
  package func examine(options: ReadingOptions = ReadingOptions()) -> ReadResult {
    var decoder = AHAPDecoder(jsonDocument, options: options)
    let decodedContent = decoder.decode()
    var suppressions: [ReadResult.Suppression] = []
    if options.wantsFindings {
      decoder.checkWholeDocument()
      if encoding != .utf8 {
        decoder.findingLog.add(
          .unusualTextEncoding, at: jsonDocument.root, offset: 0,
          "the text is encoded as \(encoding.rawValue)",
          suggestion: "save it as UTF-8; other readers may not support this encoding")
      }
      suppressions = decoder.decodeSuppressions()
    }
    var readResult = ReadResult(
      decodedContent.composition, of: jsonDocument, log: decoder.findingLog, options: options,
      sourceMap: sourceMap(
        events: decoder.eventValueIndices, parameters: decoder.parameterValueIndices,
        curves: decoder.curveValueIndices),
      details: decodedContent.fileDetails)
    if options.wantsFindings {
      readResult.losses = readResult.findings.filter { $0.rule == Rule.unknownParameter.id }.map {
        Loss(.dropped, .composition, at: $0.location, $0.message)
      }
    }
    readResult.soundReferences = decoder.waveformPathValues.map {
      .init(path: $0.string ?? "", location: $0.location)
    }
    readResult.suppressions = suppressions
    readResult.hasAppleParameters = true
    return readResult
  }

  /// Returns the locations of the elements of the pattern.
  ///
  /// - Parameters:
  ///   - events: The index of the JSON value from which each event was read.
  ///   - parameters: The index of the JSON value from which each parameter was read.
  ///   - curves: The index of the JSON value from which each curve was read.
  func sourceMap(events: [Int], parameters: [Int], curves: [Int]) -> SourceMap {
    SourceMap(
      root: (jsonDocument.root["Pattern"] ?? jsonDocument.root).nodeIndex,
      events: [events], parameters: [parameters], curves: [curves]
    ) { [jsonDocument] in jsonDocument.location(ofValue: $0) }
  }

  /// Creates the text of a pattern: events, then parameters, then curves, each group in its own
  /// order.
  ///
  /// Values are written without clamping. Reading the text back returns an equal pattern if all
  /// values are in range and the control points are sorted.
  ///
  /// - Parameters:
  ///   - pattern: The pattern to write.
  ///   - metadata: The metadata to write.
  ///   - name: The file name in locations and errors.
  /// - Throws: An error if a number is not finite.
  package init(pattern: HapticPattern, metadata: AHAPMetadata = [:], name: String = "pattern")
    throws(InputError)
  {
    if let nonFinitePath = pattern.firstNonFinitePath {
      throw InputError(
        nonFinite: nonFinitePath, rule: .valueOutOfRange, name: name,
        errorCode: CoreHapticsErrorCode.invalidPatternData)
    }
    var jsonWriter = JSONWriter(layout: .compact)
    jsonWriter.writeObject { file in
      file.writeMember("Version", 1.0)
      if !metadata.items.isEmpty {
        file.writeObject("Metadata") { object in
          for item in metadata.items {
            object.writeMember(item.entryName, item.entryText)
          }
        }
      }
      file.writeArray("Pattern") { $0.write(pattern) }
    }
    try self.init(text: jsonWriter.finishedText(), name: name)
  }

  /// Returns the canonical text, which is identical for files with equal content.
  ///
  /// The text is easy to compare line by line.
  ///
  /// - Two spaces of indentation per level, and a line break at the end.
  /// - Known keys in the order of ``AHAPSchemas``, followed by unknown keys in file order.
  /// - Each event parameter, control point, and dynamic parameter on one line.
  /// - Known numbers as the shortest decimal with a decimal point, other numbers as in the file.
  /// - Strings with only the necessary escapes.
  ///
  /// Canonicalizing a canonical text returns it unchanged.
  package func canonicalText() -> [UInt8] {
    AHAPSchemas.fileSchema.canonicalText(of: jsonDocument.root, normalizesNumbers: true)
  }
}

extension AHAPDocument: Equatable {
  /// Returns whether two documents have equal content.
  package static func == (lhs: AHAPDocument, rhs: AHAPDocument) -> Bool {
    lhs.canonicalText() == rhs.canonicalText()
  }
}

extension JSONArrayWriter {
  fileprivate mutating func write(_ pattern: HapticPattern) {
    for event in pattern.events {
      writeObject { entry in
        entry.writeObject("Event") { $0.write(event) }
      }
    }
    for parameter in pattern.parameters {
      writeObject { entry in
        entry.writeObject("Parameter") { $0.write(parameter) }
      }
    }
    for curve in pattern.curves {
      writeObject { entry in
        entry.writeObject("ParameterCurve") { $0.write(curve) }
      }
    }
  }
}

extension JSONObjectWriter {
  fileprivate mutating func write(_ event: HapticEvent) {
    writeMember("Time", event.time)
    writeMember("EventType", event.kind.rawValue)
    if let duration = event.duration {
      writeMember("EventDuration", duration)
    }
    if let waveform = event.waveform {
      writeMember("EventWaveformPath", waveform.path)
      writeMember("EventWaveformUseVolumeEnvelope", waveform.usesVolumeEnvelope)
      writeMember("EventWaveformLoopEnabled", waveform.isLooping)
    }
    let identifiers = event.parameters.identifiers
    guard !identifiers.isEmpty else { return }
    writeArray("EventParameters") { list in
      for id in identifiers {
        list.writeObject { object in
          object.writeMember("ParameterID", id.rawValue)
          object.writeMember("ParameterValue", event.parameters[id] ?? 0)
        }
      }
    }
  }

  fileprivate mutating func write(_ parameter: DynamicParameter) {
    writeMember("ParameterID", parameter.id.rawValue)
    writeMember("Time", parameter.time)
    writeMember("ParameterValue", parameter.value)
  }

  fileprivate mutating func write(_ curve: ParameterCurve) {
    writeMember("ParameterID", curve.id.rawValue)
    writeMember("Time", curve.time)
    writeArray("ParameterCurveControlPoints") { list in
      for point in curve.controlPoints {
        list.writeObject { object in
          object.writeMember("Time", point.time)
          object.writeMember("ParameterValue", point.value)
        }
      }
    }
  }
}

/// The decoded content of an AHAP file.
package struct AHAPContent: Equatable, Sendable {
  /// The pattern. Values are clamped, and control points are sorted and relative to their curve.
  package var pattern = HapticPattern()
  /// The version of Core Haptics that the file requires, or nil.
  package var coreHapticsVersion: Double?
  /// The metadata entries, by name.
  package var metadata: AHAPMetadata = [:]
  /// A Boolean value that indicates whether absolute control point times were converted.
  ///
  /// Absolute times count from the start of the pattern.
  package var usesAbsoluteCurveTimes = false

  /// The pattern as a composition with the title, notes, and author from the metadata.
  package var composition: HapticComposition {
    HapticComposition(
      layers: [HapticComposition.Layer(pattern)], title: metadata["Project"],
      notes: metadata["Description"],
      author: metadata["Created By"])
  }

  /// Additional information about the file: its version, its metadata, and the time reference of
  /// its control points.
  package var fileDetails: [(name: String, value: String)] {
    var documentDetails: [(name: String, value: String)] = []
    if let coreHapticsVersion {
      documentDetails.append(("version", "\(coreHapticsVersion)"))
    }
    documentDetails += metadata.items.map { ($0.entryName, $0.entryText) }
    if usesAbsoluteCurveTimes {
      documentDetails.append(("curveTimes", "absolute"))
    }
    return documentDetails
  }
}

/// The metadata of a file as names and texts, in file order. A name may occur more than once.
package struct AHAPMetadata: Equatable, Sendable, ExpressibleByDictionaryLiteral {
  struct Item: Equatable, Sendable {
    var entryName: String
    var entryText: String
  }

  var items: [Item]

  package init(dictionaryLiteral elements: (String, String)...) {
    items = elements.map { Item(entryName: $0, entryText: $1) }
  }

  /// The text of the last entry with a name, or nil.
  package subscript(name: String) -> String? { items.last { $0.entryName == name }?.entryText }
}
