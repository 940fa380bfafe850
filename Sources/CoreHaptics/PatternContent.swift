import Reading
import Foundation
import HapticFormats
import HapticModel

/// What a pattern is made of.
struct PatternContent: Equatable, Sendable {
  /// Events, parameters and curves in layers; values within their ranges, control points sorted.
  var composition: HapticComposition
  /// The folder in which the pattern's sound files are, where it was read from a file.
  var folder: URL?

  /// Makes the content of a composition.
  init(_ composition: HapticComposition, folder: URL? = nil) {
    self.composition = composition
    self.folder = folder
  }

  /// Makes the content of one pattern.
  init(pattern: HapticPattern, folder: URL? = nil) { self.init(HapticComposition(pattern), folder: folder) }

  /// The layers as one pattern that plays the same; nil where they cannot be one.
  ///
  /// Parameters and curves act on their own layer, so that only layers without any are one.
  var pattern: HapticPattern? { composition.isFlatteningExact ? composition.flattened : nil }

  /// The path of every sound that an event plays.
  var waveformPaths: [String] { composition.layers.flatMap { $0.pattern.events.compactMap { $0.waveform?.path } } }

  /// The one format that Apple's interface reads.

  /// Reads the layers of a file of one of the formats.
  init(_ file: SourceFile, formats: FormatRegistry = .apple, folder: URL? = nil) throws {
    do throws(InputError) {
      let composition = try formats.read(file).linearized()
      self.init(HapticComposition(layers: composition.layers), folder: folder)
    } catch { throw CHHapticError(error) }
  }

  /// Reads the layers of a file of one of the formats.
  init(contentsOf url: URL, formats: FormatRegistry = .apple) throws {
    guard url.isFileURL else { throw CHHapticError(.fileNotFound, "\(url.absoluteString) is not the URL of a file") }
    let path = url.path
    var isFolder: ObjCBool = false
    guard unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw CHHapticError(.fileNotFound, "\(path): there is no such file")
    }
    guard !isFolder.boolValue else {
      throw CHHapticError(.invalidPatternData, "\(path): is a folder, not a pattern file")
    }
    let data: Data
    do { data = try Data(contentsOf: url) } catch {
      throw CHHapticError(
        .invalidPatternData,
        userInfo: [NSLocalizedDescriptionKey: "\(path): the file cannot be read", NSUnderlyingErrorKey: error])
    }
    try self.init(
      SourceFile(Array(data), name: path), formats: formats, folder: url.absoluteURL.deletingLastPathComponent())
  }

  /// The pattern as nested dictionaries: events first, then parameters, then curves.
  func exportDictionary() throws -> [CHHapticPattern.Key: Any] {
    guard let pattern else {
      throw CHHapticError(
        .operationNotPermitted,
        "a pattern of several layers with parameters or curves cannot be exported as a dictionary")
    }
    var entries: [[CHHapticPattern.Key: Any]] = []
    for (index, event) in pattern.events.enumerated() {
      if let path = event.waveform?.path, let id = AudioResourcePath.id(of: path) {
        throw CHHapticError(
          .operationNotPermitted, "events[\(index)] plays the registered resource \(id), which cannot be exported")
      }
      entries.append([.event: event.exported])
    }
    for parameter in pattern.parameters { entries.append([.parameter: parameter.exported]) }
    for curve in pattern.curves { entries.append([.parameterCurve: curve.exported]) }
    return [.version: 1.0, .pattern: entries]
  }
}

extension HapticEvent {
  /// The event as its entry holds it.
  fileprivate var exported: [CHHapticPattern.Key: Any] {
    var event: [CHHapticPattern.Key: Any] = [.time: time, .eventType: kind.rawValue]
    if let duration { event[.eventDuration] = duration }
    if let waveform {
      event[.eventWaveformPath] = waveform.path
      event[.eventWaveformUseVolumeEnvelope] = waveform.usesVolumeEnvelope
      event[.eventWaveformLoopEnabled] = waveform.isLooping
    }
    let values = parameters.identifiers.map { id -> [CHHapticPattern.Key: Any] in
      [.parameterID: id.rawValue, .parameterValue: (parameters[id] ?? 0).shortest]
    }
    if !values.isEmpty { event[.eventParameters] = values }
    return event
  }
}

extension DynamicParameter {
  /// The parameter as its entry holds it.
  fileprivate var exported: [CHHapticPattern.Key: Any] {
    [.parameterID: id.rawValue, .time: time, .parameterValue: value.shortest]
  }
}

extension ParameterCurve {
  /// The curve as its entry holds it.
  fileprivate var exported: [CHHapticPattern.Key: Any] {
    let points = controlPoints.map { point -> [CHHapticPattern.Key: Any] in
      [.time: point.time, .parameterValue: point.value.shortest]
    }
    return [.parameterID: id.rawValue, .time: time, .parameterCurveControlPoints: points]
  }
}

extension Float {
  /// The number with the fewest digits that becomes this one again: 0.8, not 0.800000011920929.
  fileprivate var shortest: Double { Double(description) ?? Double(self) }
}
