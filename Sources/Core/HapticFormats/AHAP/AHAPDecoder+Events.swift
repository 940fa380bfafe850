import HapticModel
import Reading

extension AHAPDecoder {
  private typealias EventKey = AHAPSchemas.EventKey
  private typealias ParameterKey = AHAPSchemas.EventParameterKey

  /// Reads an event, and adds it to the pattern unless it has errors.
  mutating func decodeEvent(_ value: JSONValue) {
    guard let event = decodeObject(value, schema: AHAPSchemas.eventSchema, as: "Event") else {
      return
    }
    let eventKind = decodeName(of: event, keyIndex: EventKey.typeKeyIndex, in: AHAPNames.eventTypes)
    let timeSeconds = decodeTime(of: event, keyIndex: EventKey.timeKeyIndex)
    let durationValue = readOptionalMember(of: event, keyIndex: EventKey.durationKeyIndex)
    let durationSeconds = durationValue.flatMap {
      decodeSeconds($0, schema: event.schema, keyIndex: EventKey.durationKeyIndex)
    }
    let waveform = decodeWaveform(of: event, kind: eventKind)
    let eventParameters =
      readOptionalMember(of: event, keyIndex: EventKey.parametersKeyIndex).map {
        decodeEventParameters($0, kind: eventKind)
      }
      ?? EventParameters()
    guard let eventKind, let timeSeconds else { return }
    checkDuration(durationSeconds, durationValue, eventKind, of: event)
    eventValueIndices.append(value.nodeIndex)
    pattern.events.append(
      HapticEvent(
        kind: eventKind, time: timeSeconds, duration: durationSeconds, parameters: eventParameters,
        waveform: waveform))
  }

  /// Reports a continuous event without a duration or with a duration above the maximum.
  private mutating func checkDuration(
    _ duration: Double?, _ durationValue: JSONValue?, _ kind: HapticEvent.Kind,
    of event: borrowing AHAPObject
  ) {
    guard kind.isContinuous else { return }
    if durationValue == nil {
      findingLog.add(
        .missingDuration, at: event.objectValue,
        "a continuous event should have the key \"EventDuration\"",
        suggestion: event.schema.renameSuggestion(for: "EventDuration", in: event.objectValue))
    } else if let duration, let durationValue, duration > HapticEvent.defaultDurationSeconds {
      findingLog.add(
        .eventLongerThan30Seconds, at: durationValue,
        "the event lasts \(duration) s; devices may cut it off at 30 s",
        suggestion: "split it into several events")
    }
  }

  /// Reads the parameters of an event. Out-of-range values are clamped.
  private mutating func decodeEventParameters(_ list: JSONValue, kind: HapticEvent.Kind?)
    -> EventParameters
  {
    var parameters = EventParameters()
    guard
      expectKind(
        .array, of: list, as: "EventParameters", errorCode: CoreHapticsErrorCode.badParameterEntry)
    else {
      return parameters
    }
    for element in list.elements {
      guard
        let parameter = decodeObject(
          element, schema: AHAPSchemas.eventParameterSchema, as: "an event parameter")
      else { continue }
      let id = decodeName(
        of: parameter, keyIndex: ParameterKey.idKeyIndex, in: AHAPNames.eventParameters)
      let flag =
        id == .sustained ? parameter.indexedMembers[ParameterKey.valueKeyIndex]?.boolean : nil
      let flagNumber = flag.map { $0 ? 1.0 : 0 }
      guard
        let number = flagNumber
          ?? decodeNumber(of: parameter, keyIndex: ParameterKey.valueKeyIndex),
        let id
      else {
        continue
      }
      if parameters[id] != nil {
        findingLog.add(
          .duplicateParameter, at: parameter.indexedMembers[ParameterKey.idKeyIndex] ?? element,
          "\(id.rawValue) appears twice; the last value is used")
      }
      parameters[id] = clampReportingExcess(
        number, to: id.range, name: id.rawValue,
        at: parameter.indexedMembers[ParameterKey.valueKeyIndex] ?? element)
      if let kind, !kind.responds(to: id) {
        findingLog.add(
          .ineffectiveParameter, at: parameter.indexedMembers[ParameterKey.idKeyIndex] ?? element,
          "\(id.rawValue) has no effect on \(kind.nounPhrase)")
      }
    }
    return parameters
  }

  /// Reads the waveform of an event that plays a sound file.
  private mutating func decodeWaveform(of event: borrowing AHAPObject, kind: HapticEvent.Kind?)
    -> AudioWaveform?
  {
    let hasWaveformKey = event.indexedMembers.presentNameBits & EventKey.waveformKeyBits != 0
    if kind?.playsFile != true, !hasWaveformKey { return nil }
    if let kind, !kind.playsFile {
      // These keys have no effect here, so any value is accepted. Editors write null.
      for index in EventKey.waveformPathKeyIndex...EventKey.isLoopingKeyIndex {
        guard let value = event.indexedMembers[index] else { continue }
        findingLog.add(
          .ineffectiveParameter, at: value,
          "\(event.schema.keys[index].name) has no effect on \(kind.nounPhrase)")
      }
      return nil
    }
    let usesEnvelope =
      decodeBoolean(of: event, keyIndex: EventKey.usesVolumeEnvelopeKeyIndex) ?? true
    let isLooping = decodeBoolean(of: event, keyIndex: EventKey.isLoopingKeyIndex) ?? false
    guard let pathValue = readOptionalMember(of: event, keyIndex: EventKey.waveformPathKeyIndex)
    else {
      guard let kind else { return nil }
      findingLog.add(
        .invalidWaveformPath, at: event.objectValue,
        "\(kind.nounPhrase) must have the key \"EventWaveformPath\"",
        suggestion: event.schema.renameSuggestion(for: "EventWaveformPath", in: event.objectValue),
        errorCode: CoreHapticsErrorCode.invalidAudioResource)
      return nil
    }
    return decodePath(pathValue, key: event.schema.keys[EventKey.waveformPathKeyIndex]).map {
      AudioWaveform(path: $0, usesVolumeEnvelope: usesEnvelope, isLooping: isLooping)
    }
  }

  /// Reads the path of a sound file, which must be inside the folder of the pattern file.
  private mutating func decodePath(_ value: JSONValue, key: JSONKey) -> String? {
    guard let path: String = readScalar(value, key: key) else { return nil }
    let pathProblems = [
      (path.isEmpty, "is empty"),
      (path.utf8.contains(0), "has a NUL character"),
      (path.utf8.contains(UInt8(ascii: "\\")), "contains a backslash; use / between folders"),
      (path.hasPrefix("/"), "is an absolute path; it must be relative to the pattern's folder"),
      (path.split(separator: "/").contains(".."), "leads outside the pattern's folder with \"..\""),
    ]
    guard let pathProblem = pathProblems.first(where: { $0.0 })?.1 else {
      waveformPathValues.append(value)
      return path
    }
    findingLog.add(
      .invalidWaveformPath, at: value, "\(key.name) \(pathProblem)", errorCode: key.errorCode)
    return nil
  }

  /// Reads a flag from a Boolean, 0, or 1. Any other value is an error.
  private mutating func decodeBoolean(of object: borrowing AHAPObject, keyIndex: Int) -> Bool? {
    guard let flagValue = readOptionalMember(of: object, keyIndex: keyIndex) else { return nil }
    if let boolean = flagValue.boolean { return boolean }
    if let number = flagValue.number, number == 0 || number == 1 {
      return number == 1
    }
    let actualValueText =
      flagValue.kind == .number
      ? String(decoding: flagValue.sourceBytes, as: UTF8.self) : flagValue.kind.nounWithArticle
    findingLog.add(
      .wrongType, at: flagValue,
      "\(object.schema.keys[keyIndex].name) must be true or false, not \(actualValueText)",
      errorCode: CoreHapticsErrorCode.invalidAudioResource)
    return nil
  }
}

extension HapticEvent.Kind {
  /// The kind with its indefinite article, for messages.
  var nounPhrase: String {
    "\(rawValue.utf8.first == UInt8(ascii: "A") ? "an" : "a") \(rawValue) event"
  }
}
