public import Foundation
public import HapticFormats
internal import ShippedPatterns

/// Finds pattern files by name: the place where a manager looks them up.
public struct PatternResolver: Sendable {
  /// Where the content of a pattern's file is.
  public enum Place: Sendable {
    /// In a file.
    case file(URL)
    /// In memory.
    case text(Data)
  }

  /// The names there are; no other is ever asked for.
  public var names: [String]
  /// Tells where a pattern is; nothing where it is missing.
  public var place: @Sendable (_ name: String) throws -> Place?

  /// The formats that the patterns may be of.
  public var formats: FormatRegistry

  /// A resolver for some names.
  public init(
    names: [String], formats: FormatRegistry = .standard,
    place: @escaping @Sendable (_ name: String) throws -> Place?
  ) {
    self.names = names
    self.formats = formats
    self.place = place
  }

  /// The patterns that come with Temblor.
  public static let shipped = PatternResolver(names: ShippedPatterns.names) { name in
    ShippedPatterns.text(named: name).map { .text(Data($0)) }
  }

  /// The files of a folder whose endings are those of a format, by their names without it; of two
  /// with one name the first in alphabetical order.
  public static func folder(_ url: URL, formats: FormatRegistry = .standard) -> PatternResolver {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
    let patterns = files.sorted().filter { formats.format(named: $0) != nil }
    let paths = Dictionary(patterns.map { (formats.stem(of: $0), $0) }) { first, _ in first }
    return PatternResolver(names: paths.keys.sorted(), formats: formats) { name in
      paths[name].map { .file(url.appendingPathComponent($0)) }
    }
  }
}
