import AHAP
import Foundation
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
  init(pattern: HapticPattern, folder: URL? = nil) {
    self.init(HapticComposition(pattern), folder: folder)
  }

  /// The layers as one pattern that plays the same; nil where they cannot be one.
  ///
  /// Parameters and curves act on their own layer, so that only layers without any are one.
  var pattern: HapticPattern? {
    let layers = composition.layers.map(\.pattern)
    if layers.count == 1 { return layers[0] }
    guard layers.allSatisfy({ $0.parameters.isEmpty && $0.curves.isEmpty }) else { return nil }
    return HapticPattern(events: layers.flatMap(\.events))
  }

  /// The path of every sound that an event plays.
  var waveformPaths: [String] {
    composition.layers.flatMap { $0.pattern.events.compactMap { $0.waveform?.path } }
  }

  /// Reads AHAP text; the name is what errors call it.
  init(text: [UInt8], name: String, folder: URL? = nil) throws {
    do {
      let reading = try AHAPDocument(text: text, name: name).read()
      self.init(pattern: reading.pattern, folder: folder)
    } catch {
      throw CHHapticError(error)
    }
  }

  /// Reads an AHAP file.
  init(file url: URL) throws {
    guard url.isFileURL else {
      throw CHHapticError(.fileNotFound, "\(url.absoluteString) is not the URL of a file")
    }
    let path = url.path
    var isFolder: ObjCBool = false
    guard unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw CHHapticError(.fileNotFound, "\(path): there is no such file")
    }
    guard !isFolder.boolValue else {
      throw CHHapticError(.invalidPatternData, "\(path): is a folder, not a pattern file")
    }
    let data: Data
    do {
      data = try Data(contentsOf: url)
    } catch {
      throw CHHapticError(
        .invalidPatternData,
        userInfo: [
          NSLocalizedDescriptionKey: "\(path): the file cannot be read",
          NSUnderlyingErrorKey: error,
        ])
    }
    try self.init(
      text: Array(data), name: path, folder: url.absoluteURL.deletingLastPathComponent())
  }
}
