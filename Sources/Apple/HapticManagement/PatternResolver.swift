package import CoreHaptics
public import Foundation
public import HapticFormats
internal import ShippedFiles

/// Finds patterns by name for a manager.
public struct PatternResolver: Sendable {
  /// The source of a pattern's content.
  public enum Source: Sendable {
    /// A pattern in a file.
    case file(URL)
    /// A pattern as text in memory.
    case text(Data)
  }

  /// The known names. No other names are resolved.
  public var names: [String]
  /// Returns the source of a pattern, or nil if it is missing.
  public var source: @Sendable (_ name: String) throws -> Source?

  /// The formats of the patterns.
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

  /// The patterns that are shipped with Temblor.
  public static let shipped = PatternResolver(names: ShippedPatterns.names) { name in
    ShippedPatterns.text(named: name).map { .text(Data($0)) }
  }

  /// Returns a resolver for the pattern files of a folder, by their names without extension. Of
  /// several files with the same name, the first in alphabetical order is used.
  public static func folder(_ url: URL, formats: FormatRegistry = .apple) -> PatternResolver {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
    let patterns = files.sorted().filter { formats.format(forFileName: $0) != nil }
    let paths = Dictionary(patterns.map { (formats.stem(of: $0), $0) }) { first, _ in first }
    return PatternResolver(names: paths.keys.sorted(), formats: formats) { name in
      paths[name].map { .file(url.appendingPathComponent($0)) }
    }
  }
}

/// A cache of patterns by name. Each pattern is parsed once; errors are cached, too.
package final class ParsedPatternCache: @unchecked Sendable {
  package static let shipped = ParsedPatternCache(.shipped)

  private let resolver: PatternResolver
  private let names: Set<String>
  private let lock = NSRecursiveLock()
  private var entries: [String: Result<CHHapticPattern, CHHapticError>] = [:]

  package init(_ resolver: PatternResolver) {
    self.resolver = resolver
    names = Set(resolver.names)
  }

  package func pattern(named name: String) -> CHHapticPattern? {
    lock.withLock { try? entry(name)?.get() }
  }

  package func loadAll() {
    lock.withLock {
      for name in resolver.names {
        _ = entry(name)
      }
    }
  }

  package func reload() {
    lock.withLock {
      let loaded = entries.keys
      entries.removeAll()
      for name in loaded {
        _ = entry(name)
      }
    }
  }

  package var errors: [String: CHHapticError] {
    lock.withLock {
      entries.compactMapValues {
        if case .failure(let error) = $0 {
          error
        } else {
          nil
        }
      }
    }
  }

  private func entry(_ name: String) -> Result<CHHapticPattern, CHHapticError>? {
    if let entry = entries[name] { return entry }
    guard names.contains(name) else { return nil }
    let entry = Result { try read(name) }.mapError { error in
      error as? CHHapticError
        ?? CHHapticError(
          .invalidPatternData,
          userInfo: [NSLocalizedDescriptionKey: "\(name): the pattern cannot be read: \(error)"])
    }
    entries[name] = entry
    return entry
  }

  private func read(_ name: String) throws -> CHHapticPattern {
    switch try resolver.source(name) {
    case .file(let url):
      return try CHHapticPattern(contentsOf: url, formats: resolver.formats)
    case .text(let data):
      return try CHHapticPattern(SourceFile(Array(data), name: name), formats: resolver.formats)
    case nil:
      throw CHHapticError(
        .fileNotFound, userInfo: [NSLocalizedDescriptionKey: "\(name): pattern not found"])
    }
  }
}
