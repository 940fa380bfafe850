internal import HapticFormats
internal import HapticModel
internal import HapticRender
internal import Reading

/// A report about a document or the studio, identified by its name in the C interface.
enum ReportKind: String, CaseIterable {
  /// The report of the formats that can be read and written, as JSON.
  case formats
  /// The report of the losses of the last conversion, as JSON.
  case losses
  /// The report of the profiles, as JSON.
  case profiles
  /// The report of the text of a document.
  case text
  /// The report of the text of a document when it was opened.
  case original
  /// The report of the names of the next undo and redo steps, as JSON.
  case history
  /// The report of the numbers of the changed lines, as JSON.
  case lines
  /// The report of the drawable content, as JSON.
  case score
  /// The report of the original format and the losses of the conversion, as JSON.
  case origin
  /// The report of the patterns in a file that has several, as JSON.
  case parts
  /// The report of the findings for a profile, as JSON.
  case check

  /// A Boolean value that indicates whether the report is about a document.
  var needsDocument: Bool {
    switch self {
    case .formats, .losses, .profiles: false
    default: true
    }
  }

  /// The names of all reports, separated by commas.
  static var commaSeparatedNames: String {
    allCases.map { $0.rawValue }.joined(separator: ", ")
  }
}

extension Studio {
  /// Returns a report about a document.
  ///
  /// - Parameters:
  ///   - kind: The kind of report.
  ///   - index: The index of the document. Some kinds need none.
  ///   - profile: The index of the profile, for findings.
  /// - Returns: The bytes of the report; empty for an invalid document.
  func makeReport(_ kind: ReportKind, document index: Int, profile: Int) -> [UInt8] {
    switch kind {
    case .profiles:
      return profilesJSON()
    case _ where kind.needsDocument && !documents.indices.contains(index):
      return []
    case .text:
      return documents[index].text
    case .score:
      return drawableContentJSON(index)
    default:
      return makeEditorReport(kind, document: index, profile: profile)
    }
  }

  /// Returns the drawable content of a document as JSON: events with their effective controls,
  /// curves, and parameters.
  ///
  /// - `felt` is a flat list of time, intensity, and sharpness at each corner of an event.
  /// - `points` is a flat list of times and values.
  /// - `order` has the path indices of the points, if the text does not list them by time.
  func drawableContentJSON(_ index: Int) -> [UInt8] {
    guard let editor = documents[index].lastReadableEditor else { return [] }
    let pattern = editor.pattern
    let effectiveParameters = EffectiveParameters(pattern)
    let document = documents[index]
    return JSONWriter.compactObjectText { file in
      file.writeMember("duration", pattern.durationSeconds)
      file.writeMember("name", document.fileName)
      if let title = editor.content.metadata["Project"] {
        file.writeMember("title", title)
      }
      file.writeMember("format", document.formatID)
      file.writeArray("events") { list in
        for (index, event) in pattern.events.enumerated() {
          list.writeObject { $0.write(event, path: "events[\(index)]", under: effectiveParameters) }
        }
      }
      file.writeArray("curves") { list in
        for (index, curve) in pattern.curves.enumerated() {
          let order = editor.controlPointOrder(ofCurve: index)
          list.writeObject { $0.write(curve, path: "curves[\(index)]", pointOrder: order) }
        }
      }
      file.writeArray("parameters") { list in
        for (index, parameter) in pattern.parameters.enumerated() {
          list.writeObject { $0.write(parameter, path: "parameters[\(index)]") }
        }
      }
    }
  }

  /// Returns the profiles as JSON, with names, descriptions, and the played frequencies of
  /// sharpness 0 and 1.
  func profilesJSON() -> [UInt8] {
    JSONWriter.compactArrayText { list in
      for profile in profiles {
        let played = profile.limitedToUsableBand(rate: Self.defaultRateHertz).frequency
        list.writeObject { object in
          object.writeMember("name", profile.name)
          object.writeMember("title", profile.hardware?.product ?? profile.name)
          object.writeMember("summary", profile.summary)
          object.writeMember("kind", profile.hardware == nil ? "mapping" : "transducer")
          object.writeMember("low", played.lowHertz)
          object.writeMember("high", played.highHertz)
          object.writeMember("hasHardware", profile.hardware != nil)
        }
      }
    }
  }
}

extension JSONWriter {
  /// Returns a JSON array as compact text.
  static func compactArrayText(_ contents: (inout JSONArrayWriter) -> Void) -> [UInt8] {
    var jsonWriter = JSONWriter(layout: .compact)
    jsonWriter.writeArray(contents)
    return jsonWriter.finishedText()
  }

  /// Returns a JSON object as compact text.
  static func compactObjectText(_ contents: (inout JSONObjectWriter) -> Void) -> [UInt8] {
    var jsonWriter = JSONWriter(layout: .compact)
    jsonWriter.writeObject(contents)
    return jsonWriter.finishedText()
  }
}

extension JSONObjectWriter {
  /// Writes an event with its effective intensity and sharpness.
  fileprivate mutating func write(
    _ event: HapticEvent, path: String, under controls: EffectiveParameters
  ) {
    writeMember("kind", event.kind.rawValue)
    writeMember("path", path)
    writeMember("time", event.time)
    if let durationSeconds = event.duration {
      writeMember("duration", durationSeconds)
    }
    if let waveform = event.waveform {
      writeMember("file", waveform.path)
    }
    for field in AHAPField.allCases {
      guard let id = field.eventParameter, event.kind.responds(to: id) else { continue }
      if event.parameters[id] != nil || id == .hapticIntensity || id == .hapticSharpness {
        writeMember(field.rawValue, event.value(of: id))
      }
    }
    guard event.kind.isHaptic else { return }
    writeArray("felt") { points in
      for point in controls.points(of: event) {
        for number in [point.time, point.intensity, point.sharpness] {
          points.writeElement(number)
        }
      }
    }
  }

  /// Writes a curve of a pattern. `pointOrder` contains the path indices of its points.
  fileprivate mutating func write(_ curve: ParameterCurve, path: String, pointOrder: [Int]) {
    writeMember("id", curve.id.rawValue)
    writeMember("path", path)
    writeMember("time", curve.time)
    writeArray("points") { points in
      for point in curve.controlPoints {
        points.writeElement(point.time)
        points.writeElement(Double(point.value))
      }
    }
    guard pointOrder != Array(pointOrder.indices) else { return }
    writeArray("order") { list in
      for index in pointOrder {
        list.writeElement(index)
      }
    }
  }

  fileprivate mutating func write(_ parameter: DynamicParameter, path: String) {
    writeMember("id", parameter.id.rawValue)
    writeMember("path", path)
    writeMember("time", parameter.time)
    writeMember("value", parameter.value)
  }

  /// Writes a finding with its location.
  ///
  /// - Parameters:
  ///   - finding: The finding.
  ///   - path: The path of the part concerned, or nil.
  mutating func writeMembers(of finding: Finding, path: String? = nil) {
    writeMember("severity", finding.severity.description)
    writeMember("rule", finding.rule.text)
    writeMember("message", finding.message)
    if let suggestion = finding.suggestion {
      writeMember("hint", suggestion)
    }
    writeMember("file", finding.location.name)
    if case .text(let line, let column) = finding.location.position {
      writeMember("line", line)
      writeMember("column", column)
    }
    if let path {
      writeMember("path", path)
    }
    writeMember("place", finding.location.path)
  }
}
