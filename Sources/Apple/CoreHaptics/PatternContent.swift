public import Foundation
internal import HapticRender
internal import SoundFile
import HapticFormats
import HapticModel
import Reading

/// The validated content of a pattern, copied from the arguments of its initializer.
struct PatternContent: Equatable, Sendable {
  /// The layers of events, parameters, and curves.
  ///
  /// Values are within their ranges, and control points are sorted.
  var composition: HapticComposition
  /// The folder of the pattern's sound files, if the pattern was read from a file.
  var soundFolder: URL?

  init(_ composition: HapticComposition, soundFolder: URL? = nil) {
    self.composition = composition
    self.soundFolder = soundFolder
  }

  /// The layers merged into one equivalent pattern, or nil if no such pattern exists.
  ///
  /// Parameters and curves act only on their own layer, so only layers without them can be merged.
  var flattenedPattern: HapticPattern? {
    composition.flattensExactly ? composition.flattened : nil
  }

  var waveformPaths: [String] {
    composition.layers.flatMap { $0.pattern.events.compactMap { $0.waveform?.path } }
  }

  init(_ file: SourceFile, formats: FormatRegistry = .apple, soundFolder: URL? = nil) throws {
    do throws(InputError) {
      let composition = try formats.read(file).linearized()
      self.init(HapticComposition(layers: composition.layers), soundFolder: soundFolder)
    } catch {
      throw CHHapticError(error)
    }
  }

  init(contentsOf url: URL, formats: FormatRegistry = .apple) throws {
    guard url.isFileURL else {
      throw CHHapticError(.fileNotFound, "\(url.absoluteString) is not a file URL")
    }
    let filePath = url.path
    var isFolder: ObjCBool = false
    guard unsafe FileManager.default.fileExists(atPath: filePath, isDirectory: &isFolder) else {
      throw CHHapticError(.fileNotFound, "\(filePath): file not found")
    }
    guard !isFolder.boolValue else {
      throw CHHapticError(.invalidPatternData, "\(filePath): is a folder, not a pattern file")
    }
    let fileData: Data
    do {
      fileData = try Data(contentsOf: url)
    } catch {
      throw CHHapticError(
        .invalidPatternData,
        userInfo: [
          NSLocalizedDescriptionKey: "cannot read \(filePath)",
          NSUnderlyingErrorKey: error,
        ])
    }
    try self.init(
      SourceFile(Array(fileData), name: filePath), formats: formats,
      soundFolder: url.absoluteURL.deletingLastPathComponent())
  }

  /// Returns the pattern as nested dictionaries: events first, then parameters, then curves.
  func exportedDictionary() throws -> [CHHapticPattern.Key: Any] {
    guard let flattenedPattern else {
      throw CHHapticError(
        .operationNotPermitted,
        "a pattern with several layers and parameters or curves cannot be exported as a dictionary")
    }
    var patternEntries: [[CHHapticPattern.Key: Any]] = []
    for (index, event) in flattenedPattern.events.enumerated() {
      if let path = event.waveform?.path, let id = AudioResourcePath.id(of: path) {
        throw CHHapticError(
          .operationNotPermitted,
          "events[\(index)] plays the registered resource \(id), which cannot be exported")
      }
      patternEntries.append([.event: event.exportedEntry])
    }
    for parameter in flattenedPattern.parameters {
      patternEntries.append([.parameter: parameter.exportedEntry])
    }
    for curve in flattenedPattern.curves {
      patternEntries.append([.parameterCurve: curve.exportedEntry])
    }
    return [.version: 1.0, .pattern: patternEntries]
  }

  /// Creates the content from nested dictionaries.
  ///
  /// They are first written as AHAP text, so that the same reader validates both.
  init(dictionary: [AnyHashable: Any]) throws {
    var jsonWriter = DictionaryJSONWriter()
    try jsonWriter.writeValue(dictionary)
    let dictionaryFile = SourceFile(jsonWriter.jsonBytes, name: "dictionary")
    do throws(InputError) {
      var options = ReadingOptions(wantsFindings: false)
      options.rejectsUnknownParameters = true
      let composition = try HapticFormat.ahap.examine(dictionaryFile, options: options).get()
      self.init(HapticComposition(layers: composition.layers))
    } catch {
      throw CHHapticError(
        error, unrepresentable: jsonWriter.unrepresentableValueDescriptions[error.location.path])
    }
  }

  /// Creates the content from events, parameters, and curves.
  ///
  /// Throws an error for the first value that cannot be played.
  init(
    events: [CHHapticEvent], parameters: [CHHapticDynamicParameter] = [],
    curves: [CHHapticParameterCurve] = []
  )
    throws
  {
    var pattern = HapticPattern()
    pattern.events = try events.enumerated().map { try HapticEvent($1, path: "events[\($0)]") }
    pattern.parameters = try parameters.enumerated().map {
      try DynamicParameter($1, path: "parameters[\($0)]")
    }
    pattern.curves = try curves.enumerated().map {
      try ParameterCurve($1, path: "parameterCurves[\($0)]")
    }
    self.init(HapticComposition(pattern))
  }
}

extension HapticEvent {
  fileprivate var exportedEntry: [CHHapticPattern.Key: Any] {
    var eventEntry: [CHHapticPattern.Key: Any] = [.time: time, .eventType: kind.rawValue]
    if let duration {
      eventEntry[.eventDuration] = duration
    }
    if let waveform {
      eventEntry[.eventWaveformPath] = waveform.path
      eventEntry[.eventWaveformUseVolumeEnvelope] = waveform.usesVolumeEnvelope
      eventEntry[.eventWaveformLoopEnabled] = waveform.isLooping
    }
    let parameterEntries = parameters.identifiers.map { id -> [CHHapticPattern.Key: Any] in
      [.parameterID: id.rawValue, .parameterValue: (parameters[id] ?? 0).doubleWithFewestDigits]
    }
    if !parameterEntries.isEmpty {
      eventEntry[.eventParameters] = parameterEntries
    }
    return eventEntry
  }

  /// Converts an event that an application created. Error messages refer to the event by its path.
  init(_ event: CHHapticEvent, path: String) throws {
    let eventKind = try Kind(event.type, path: path)
    try Self.checkTime(event.relativeTime, path: "\(path).relativeTime", code: .invalidEventTime)
    if let explicitDuration = event.explicitDuration {
      try Self.checkTime(explicitDuration, path: "\(path).duration", code: .invalidEventDuration)
    }
    var audioWaveform: AudioWaveform?
    if let resourceID = event.audioResourceID {
      audioWaveform = AudioWaveform(path: AudioResourcePath.path(for: resourceID))
    } else if eventKind.playsFile {
      throw CHHapticError(
        .invalidAudioResource, "\(path): an \(eventKind.rawValue) event requires an audioResourceID"
      )
    }
    var parameters = EventParameters()
    for (index, parameter) in event.eventParameters.enumerated() {
      let path = "\(path).eventParameters[\(index)]"
      let id = try EventParameterID(parameter.parameterID, path: path)
      parameters[id] = try Self.clampedValue(parameter.value, to: id.range, path: "\(path).value")
    }
    self.init(
      kind: eventKind, time: event.relativeTime, duration: event.explicitDuration,
      parameters: parameters,
      waveform: audioWaveform)
  }

  fileprivate static func checkTime(_ seconds: Double, path: String, code: CHHapticError.Code)
    throws
  {
    guard seconds.isFinite, seconds >= 0 else {
      throw CHHapticError(code, "\(path) is \(seconds); it must not be negative")
    }
  }

  /// Returns a value clamped to a range. Throws an error for NaN.
  fileprivate static func clampedValue(_ value: Float, to range: ClosedRange<Float>, path: String)
    throws -> Float
  {
    guard !value.isNaN else { throw CHHapticError(.badParameterEntry, "\(path) is NaN") }
    return min(max(value, range.lowerBound), range.upperBound)
  }
}

extension DynamicParameter {
  fileprivate var exportedEntry: [CHHapticPattern.Key: Any] {
    [.parameterID: id.rawValue, .time: time, .parameterValue: value.doubleWithFewestDigits]
  }

  init(_ parameter: CHHapticDynamicParameter, path: String) throws {
    let parameterID = try DynamicParameterID(parameter.parameterID, path: path)
    try HapticEvent.checkTime(
      parameter.relativeTime, path: "\(path).relativeTime", code: .invalidTime)
    let clampedValue = try HapticEvent.clampedValue(
      parameter.value, to: parameterID.range, path: "\(path).value")
    self.init(id: parameterID, value: clampedValue, time: parameter.relativeTime)
  }
}

extension ParameterCurve {
  fileprivate var exportedEntry: [CHHapticPattern.Key: Any] {
    let pointEntries = controlPoints.map { point -> [CHHapticPattern.Key: Any] in
      [.time: point.time, .parameterValue: point.value.doubleWithFewestDigits]
    }
    return [.parameterID: id.rawValue, .time: time, .parameterCurveControlPoints: pointEntries]
  }

  init(_ curve: CHHapticParameterCurve, path: String) throws {
    let parameterID = try DynamicParameterID(curve.parameterID, path: path)
    try HapticEvent.checkTime(curve.relativeTime, path: "\(path).relativeTime", code: .invalidTime)
    let controlPoints = try curve.controlPoints.enumerated().map { index, point in
      let path = "\(path).controlPoints[\(index)]"
      try HapticEvent.checkTime(
        point.relativeTime, path: "\(path).relativeTime", code: .invalidTime)
      return ControlPoint(
        time: point.relativeTime,
        value: try HapticEvent.clampedValue(
          point.value, to: parameterID.range, path: "\(path).value"))
    }
    self.init(
      id: parameterID, time: curve.relativeTime,
      controlPoints: controlPoints.sorted { $0.time < $1.time })
  }
}

extension Float {
  /// The shortest decimal number that rounds to this value.
  ///
  /// For example, the number is 0.8 rather than 0.800000011920929.
  fileprivate var doubleWithFewestDigits: Double { Double(description) ?? Double(self) }
}

// Values are copied when a pattern is created, so later changes to an event or parameter have no
// effect. Patterns from AHAP and from values follow the same rules.

extension RawRepresentable<String> {
  /// Creates the value from its name in Apple's API. Error messages refer to the value by its path.
  fileprivate init(known name: String, _ noun: String, _ path: String?, _ code: CHHapticError.Code)
    throws
  {
    guard let knownValue = Self(rawValue: name) else {
      throw CHHapticError(
        code, (path.map { "\($0): " } ?? "") + "unknown \(noun) \(name.quoted())")
    }
    self = knownValue
  }
}

extension HapticEvent.Kind {
  init(_ type: CHHapticEvent.EventType, path: String? = nil) throws {
    try self.init(known: type.rawValue, "event type", path, .invalidEventType)
  }
}

extension EventParameterID {
  init(_ id: CHHapticEvent.ParameterID, path: String? = nil) throws {
    try self.init(known: id.rawValue, "event parameter", path, .invalidParameterType)
  }
}

extension DynamicParameterID {
  init(_ id: CHHapticDynamicParameter.ID, path: String? = nil) throws {
    try self.init(known: id.rawValue, "dynamic parameter", path, .invalidParameterType)
  }
}

extension CHHapticError {
  /// Creates an error about a dictionary, with the path to the value instead of a line and column.
  ///
  /// Values that JSON cannot represent were written as placeholders; the message describes the
  /// original value.
  fileprivate init(_ error: InputError, unrepresentable: String?) {
    let finding = error.finding
    var errorMessage = finding.message
    for written in ["an object", "null"] where errorMessage.hasSuffix(written) {
      if let unrepresentable {
        errorMessage = errorMessage.dropLast(written.count) + unrepresentable
      }
    }
    let errorSentence =
      (finding.location.path.isEmpty ? "" : "\(finding.location.path): ") + errorMessage
      + (finding.suggestion.map { "; \($0)" } ?? "")
    // A text that was written here can only be rejected because it is too large or too deep.
    let errorCode = finding.rule == "syntax" ? nil : finding.errorCode.flatMap(Code.init(rawValue:))
    self.init(errorCode ?? .invalidPatternDictionary, errorSentence)
  }
}

/// A writer of dictionaries as JSON.
///
/// Booleans become 1 or 0, as on Apple's systems, where both are an `NSNumber`.
private struct DictionaryJSONWriter {
  private static let maximumNestingDepth = 64

  private(set) var jsonBytes: [UInt8] = []
  /// The descriptions of values that JSON cannot represent, by path.
  ///
  /// The path has the notation of ``JSONValue/path``.
  private(set) var unrepresentableValueDescriptions: [String: String] = [:]
  private var currentKeyPath: [String] = []

  /// Writes a value in an object or an array. Throws an error if the value is nested too deeply.
  mutating func writeValue(_ value: Any, isMember: Bool = true) throws {
    if let text = value as? String {
      writeString(text)
    } else if let number = Self.numericValue(of: value) {
      if number.isFinite {
        jsonBytes += "\(number)".utf8
      } else {
        writePlaceholder(for: "\(number)", isMember: isMember)
      }
    } else if let dictionary = value as? [AnyHashable: Any] {
      let members = dictionary.compactMap { key, value in
        Self.keyName(key).map { (key: $0, value: value) }
      }
      let step = currentKeyPath.isEmpty ? "" : "."
      try writeEntries(
        "{}", in: members.sorted { $0.key < $1.key }.map { (step + $0.key, $0.key, $0.value) })
    } else if let array = value as? [Any] {
      try writeEntries("[]", in: array.enumerated().map { ("[\($0)]", nil, $1) })
    } else if let name = value as? any RawRepresentable, let text = Self.rawValueText(of: name) {
      writeString(text)
    } else if value is NSNull {
      jsonBytes += "null".utf8
    } else {
      writePlaceholder(for: "a value of type \(type(of: value))", isMember: isMember)
    }
  }

  private mutating func writeEntries(
    _ brackets: String, in entries: [(step: String, key: String?, value: Any)]
  ) throws {
    guard currentKeyPath.count <= Self.maximumNestingDepth else {
      throw CHHapticError(
        .invalidPatternDictionary,
        "the dictionary is nested more than \(Self.maximumNestingDepth) levels deep")
    }
    jsonBytes += brackets.utf8.prefix(1)
    for (index, entry) in entries.enumerated() {
      if index > 0 {
        jsonBytes.append(UInt8(ascii: ","))
      }
      if let key = entry.key {
        writeString(key)
        jsonBytes.append(UInt8(ascii: ":"))
      }
      currentKeyPath.append(entry.step)
      try writeValue(entry.value, isMember: entry.key != nil)
      currentKeyPath.removeLast()
    }
    jsonBytes += brackets.utf8.suffix(1)
  }

  private mutating func writeString(_ text: String) {
    var jsonWriter = JSONWriter(layout: .compact)
    jsonWriter.writeString(text)
    jsonBytes += jsonWriter.writtenBytes
  }

  /// Writes an empty object as a placeholder for a value in an object.
  ///
  /// A null would count as absent.
  private mutating func writePlaceholder(for description: String, isMember: Bool) {
    unrepresentableValueDescriptions[currentKeyPath.joined()] = description
    jsonBytes += (isMember ? "{}" : "null").utf8
  }

  /// Returns the number that a value of any numeric type represents, including Booleans.
  private static func numericValue(of value: Any) -> Double? {
    switch value {
    case let number as Double: number
    case let number as Float: Double(number)
    case let number as any BinaryInteger: Double(number)
    case let number as any BinaryFloatingPoint: Double(number)
    case let number as NSNumber: number.doubleValue
    case let truth as Bool: truth ? 1 : 0
    case let number as Decimal: (number as NSDecimalNumber).doubleValue
    default: nil
    }
  }

  private static func keyName(_ key: AnyHashable) -> String? {
    if let stringKey = key.base as? String { return stringKey }
    return (key.base as? any RawRepresentable).flatMap { rawValueText(of: $0) }
  }

  private static func rawValueText<Name: RawRepresentable>(of name: Name) -> String? {
    name.rawValue as? String
  }
}

extension CHHapticPattern {
  /// Returns the samples of the pattern's sound files by path, resampled to a rate in hertz.
  ///
  /// A relative path is resolved in the pattern's folder, or, without a folder, in the
  /// application's resources, but never outside.
  func loadSamples(atRate rate: Double, resources: [Int: AudioResource]) throws -> [String:
    AudioBuffer]
  {
    let soundFolder = SoundFolder(
      rootPath: (content.soundFolder ?? Bundle.main.resourceURL ?? Bundle.main.bundleURL).path)
    var samplesByPath: [String: AudioBuffer] = [:]
    for path in content.waveformPaths where samplesByPath[path] == nil {
      let resource = try AudioResourcePath.id(of: path).map { number in
        guard let resource = resources[number] else {
          throw CHHapticError(.invalidAudioResource, "audio resource \(number) is not registered")
        }
        return resource
      }
      do throws(SoundFileError) {
        let sound =
          if let resource { resource.sound } else { try soundFolder.decodeSound(at: path) }
        let resampled = try sound.resampled(to: rate, path: path)
        samplesByPath[path] = AudioBuffer(
          interleaved: resampled.interleaved, channelCount: resampled.channelCount)
      } catch {
        throw CHHapticError(error)
      }
    }
    return samplesByPath
  }
}

extension CHHapticError {
  fileprivate init(_ error: SoundFileError) {
    self.init(
      error.kind == .missing ? .fileNotFound : .invalidAudioResource,
      "the sound file \(error.path) \(error.description)")
  }
}

/// The special paths that identify registered sounds in a pattern. No file can have such a path.
enum AudioResourcePath {
  /// The prefix of the paths of registered sounds.
  ///
  /// File names contain no NUL, and readers of AHAP reject it, so no text can name a resource.
  private static let registeredSoundPathPrefix = "\0resource:"

  static func path(for id: CHHapticAudioResourceID) -> String {
    registeredSoundPathPrefix + String(id)
  }

  static func id(of path: String) -> CHHapticAudioResourceID? {
    path.hasPrefix(registeredSoundPathPrefix)
      ? Int(path.dropFirst(registeredSoundPathPrefix.count)) : nil
  }
}

/// The number that identifies a sound registered with an engine; greater than 0.
public typealias CHHapticAudioResourceID = Int

/// A key in the dictionary of options for registering a sound.
public typealias CHHapticAudioResourceKey = NSString

/// The option key for the volume envelope of a registered sound.
///
/// The value is a Boolean that indicates whether the sound fades in and out. Default: true.
public let CHHapticAudioResourceKeyUseVolumeEnvelope = "EventWaveformUseVolumeEnvelope"

/// The option key for looping a registered sound.
///
/// The value is a Boolean that indicates whether the whole sound repeats for the event's duration.
/// Default: false.
public let CHHapticAudioResourceKeyLoopEnabled = "EventWaveformLoopEnabled"

/// A registered sound with its options.
struct AudioResource: Sendable {
  var sound: Sound
  var usesVolumeEnvelope: Bool
  var isLooping: Bool
}

extension EngineBacking {
  /// The maximum number of sounds that can be registered with an engine.
  static let maximumAudioResourceCount = 128

  func registerAudioResource(_ url: URL, options: [AnyHashable: Any]) throws -> Int {
    let registeredSound: Sound
    do {
      registeredSound = try Sound(contentsOf: url.path)
    } catch {
      throw CHHapticError(error)
    }
    func booleanOption(_ key: String, default defaultValue: Bool) throws -> Bool {
      guard let value = options[AnyHashable(key)] else { return defaultValue }
      if let value = value as? Bool { return value }
      if let value = value as? NSNumber { return value.boolValue }
      throw CHHapticError(.invalidAudioResource, "the option \(key) must be true or false")
    }
    let audioResource = AudioResource(
      sound: registeredSound,
      usesVolumeEnvelope: try booleanOption(
        CHHapticAudioResourceKeyUseVolumeEnvelope, default: true),
      isLooping: try booleanOption(CHHapticAudioResourceKeyLoopEnabled, default: false))
    return try withLockedState { state in
      guard state.audioResources.count < Self.maximumAudioResourceCount else {
        throw CHHapticError(
          .resourceNotAvailable,
          """
          an engine supports at most \(Self.maximumAudioResourceCount) audio resources; \
          unregister some \
          first
          """)
      }
      let number = state.nextAudioResourceID
      state.nextAudioResourceID += 1
      state.audioResources[number] = audioResource
      return number
    }
  }

  /// Removes a registered sound from the engine. Players that were created with the sound keep it.
  func unregisterAudioResource(_ number: Int) throws {
    let removedResource = withLockedState { $0.audioResources.removeValue(forKey: number) }
    guard removedResource == nil else { return }
    throw CHHapticError(.invalidAudioResource, "audio resource \(number) is not registered")
  }
}
