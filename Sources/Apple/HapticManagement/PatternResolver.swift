package import CoreHaptics
public import Foundation
public import HapticFormats
internal import ShippedFiles

/// Finds pattern files by name: the place where a manager looks them up.
public struct PatternResolver: Sendable {
  /// Where the content of a pattern's file is.
  public enum Source: Sendable {
    /// In a file.
    case file(URL)
    /// In memory.
    case text(Data)
  }

  /// The names there are; no other is ever asked for.
  public var names: [String]
  /// The place of a pattern; nothing where it is missing.
  public var source: @Sendable (_ name: String) throws -> Source?

  /// The formats that the patterns may be of.
  public var formats: FormatRegistry

  /// A resolver for some names.
  public init(
    names: [String], formats: FormatRegistry = .apple,
    source place: @escaping @Sendable (_ name: String) throws -> Source?
  ) {
    self.names = names
    self.formats = formats
    self.source = place
  }

  /// The patterns that come with Temblor.
  public static let shipped = PatternResolver(names: ShippedPatterns.names) { name in
    ShippedPatterns.text(named: name).map { .text(Data($0)) }
  }

  /// The files of a folder whose endings are those of a format, by their names without it; of two
  /// with one name the first in alphabetical order.
  public static func folder(_ url: URL, formats: FormatRegistry = .apple) -> PatternResolver {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
    let patterns = files.sorted().filter { formats.format(forFileName: $0) != nil }
    let paths = Dictionary(patterns.map { (formats.stem(of: $0), $0) }) { first, _ in first }
    return PatternResolver(names: paths.keys.sorted(), formats: formats) { name in
      paths[name].map { .file(url.appendingPathComponent($0)) }
    }
  }
}

/// Patterns by name, each parsed once and kept; what cannot be read is skipped and remembered.
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
        .fileNotFound, userInfo: [NSLocalizedDescriptionKey: "\(name): there is no such pattern"])
    }
  }
}
