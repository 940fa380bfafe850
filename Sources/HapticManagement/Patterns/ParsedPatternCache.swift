package import CoreHaptics
internal import Foundation
internal import HapticFormats

/// Patterns by name, each parsed once and kept; what cannot be read is skipped and remembered.
package final class ParsedPatternCache: @unchecked Sendable {
  /// The patterns that come with Temblor, for all who play them.
  package static let shipped = ParsedPatternCache(.shipped)

  private enum Entry {
    case pattern(CHHapticPattern)
    case broken(CHHapticError)
  }

  private let resolver: PatternResolver
  private let names: Set<String>
  private let lock = NSRecursiveLock()
  private var entries: [String: Entry] = [:]

  /// An empty cache.
  package init(_ resolver: PatternResolver) {
    self.resolver = resolver
    names = Set(resolver.names)
  }

  /// A pattern, read where it was not yet; nothing where there is none or it is broken.
  package func pattern(named name: String) -> CHHapticPattern? {
    locked {
      if case .pattern(let pattern) = entry(name) { return pattern }
      return nil
    }
  }

  /// Reads every pattern that was not read yet.
  package func loadAll() {
    locked { for name in resolver.names { _ = entry(name) } }
  }

  /// Reads again every pattern that was read before.
  package func reload() {
    locked {
      let loaded = entries.keys
      entries.removeAll()
      for name in loaded { _ = entry(name) }
    }
  }

  /// What could not be read, and why.
  package var broken: [String: CHHapticError] {
    locked {
      entries.compactMapValues { entry in
        if case .broken(let error) = entry { return error }
        return nil
      }
    }
  }

  private func entry(_ name: String) -> Entry? {
    if let entry = entries[name] { return entry }
    guard names.contains(name) else { return nil }
    let entry: Entry
    do {
      entry = .pattern(try read(name))
    } catch let error as CHHapticError {
      entry = .broken(error)
    } catch {
      entry = .broken(
        CHHapticError(
          .invalidPatternData,
          userInfo: [NSLocalizedDescriptionKey: "\(name): the pattern cannot be read: \(error)"]))
    }
    entries[name] = entry
    return entry
  }

  private func read(_ name: String) throws -> CHHapticPattern {
    switch try resolver.place(name) {
    case .file(let url): return try CHHapticPattern(contentsOf: url, formats: resolver.formats)
    case .text(let data): return try CHHapticPattern(
        SourceFile(Array(data), name: name), formats: resolver.formats)
    case nil:
      throw CHHapticError(
        .fileNotFound, userInfo: [NSLocalizedDescriptionKey: "\(name): there is no such pattern"])
    }
  }

  private func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body()
  }
}
