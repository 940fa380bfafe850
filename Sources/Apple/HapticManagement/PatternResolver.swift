package import CoreHaptics
public import Foundation
public import HapticFormats
internal import ShippedFiles

/// A resolver that finds patterns by name for a manager.
public struct PatternResolver: Sendable {
  /// The source of the content of a pattern.
  public enum Source: Sendable {
    /// The content is in a file with a URL.
    case file(URL)
    /// The content is text in memory.
    case text(Data)
  }

  /// The names of the patterns that the resolver knows. No other names are resolved.
  public var names: [String]
  /// A closure that returns the source of a named pattern, or nil for a missing pattern.
  public var source: @Sendable (_ name: String) throws -> Source?

  /// The formats in which patterns are read.
  public var formats: FormatRegistry

  /// Creates a resolver.
  public init(
    names: [String], formats: FormatRegistry = .apple,
    source: @escaping @Sendable (_ name: String) throws -> Source?
  ) {
    self.names = names
    self.formats = formats
    self.source = source
  }

  /// The resolver of the patterns that are shipped with Temblor.
  public static let shipped = PatternResolver(names: ShippedPatterns.names) { name in
    ShippedPatterns.text(named: name).map { .text(Data($0)) }
  }

  /// Returns a resolver that finds the pattern files in a folder by name, without the extension.
  ///
  /// Of several files with the same name, the first in alphabetical order is used.
  public static func folder(_ url: URL, formats: FormatRegistry = .apple) -> PatternResolver {
    let fileNames = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
    let patternFileNames = fileNames.sorted().filter { formats.format(forFileName: $0) != nil }
    let fileNamesByPatternName = Dictionary(patternFileNames.map { (formats.stem(of: $0), $0) }) {
      first, _ in first
    }
    return PatternResolver(names: fileNamesByPatternName.keys.sorted(), formats: formats) { name in
      fileNamesByPatternName[name].map { .file(url.appendingPathComponent($0)) }
    }
  }
}

/// A cache of parsed patterns by name. Each pattern is parsed once; errors are cached, too.
package final class ParsedPatternCache: @unchecked Sendable {
  package static let shipped = ParsedPatternCache(.shipped)

  private let patternResolver: PatternResolver
  private let patternNames: Set<String>
  private let lock = NSRecursiveLock()
  private var parseResultsByName: [String: Result<CHHapticPattern, CHHapticError>] = [:]

  package init(_ resolver: PatternResolver) {
    self.patternResolver = resolver
    patternNames = Set(resolver.names)
  }

  package func pattern(named name: String) -> CHHapticPattern? {
    lock.withLock { try? parseResult(named: name)?.get() }
  }

  package func loadAllPatterns() {
    lock.withLock {
      for name in patternResolver.names {
        _ = parseResult(named: name)
      }
    }
  }

  package func reloadPatterns() {
    lock.withLock {
      let loaded = parseResultsByName.keys
      parseResultsByName.removeAll()
      for name in loaded {
        _ = parseResult(named: name)
      }
    }
  }

  package var errorsByName: [String: CHHapticError] {
    lock.withLock {
      parseResultsByName.compactMapValues {
        if case .failure(let error) = $0 {
          error
        } else {
          nil
        }
      }
    }
  }

  private func parseResult(named name: String) -> Result<CHHapticPattern, CHHapticError>? {
    if let cachedResult = parseResultsByName[name] { return cachedResult }
    guard patternNames.contains(name) else { return nil }
    let newResult = Result { try readPattern(named: name) }.mapError { error in
      error as? CHHapticError
        ?? CHHapticError(
          .invalidPatternData,
          userInfo: [NSLocalizedDescriptionKey: "\(name): the pattern cannot be read: \(error)"])
    }
    parseResultsByName[name] = newResult
    return newResult
  }

  private func readPattern(named name: String) throws -> CHHapticPattern {
    switch try patternResolver.source(name) {
    case .file(let url):
      return try CHHapticPattern(contentsOf: url, formats: patternResolver.formats)
    case .text(let data):
      return try CHHapticPattern(
        SourceFile(Array(data), name: name), formats: patternResolver.formats)
    case nil:
      throw CHHapticError(
        .fileNotFound, userInfo: [NSLocalizedDescriptionKey: "\(name): pattern not found"])
    }
  }
}
