public import Foundation
internal import ShippedPatterns

/// Finds pattern files by name: the place where a manager looks them up.
public struct PatternResolver: Sendable {
  /// Where a pattern's AHAP text is.
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

  /// A resolver for some names.
  public init(names: [String], place: @escaping @Sendable (_ name: String) throws -> Place?) {
    self.names = names
    self.place = place
  }

  /// The patterns that come with Temblor.
  public static let shipped = PatternResolver(names: ShippedPatterns.names) { name in
    ShippedPatterns.text(named: name).map { .text(Data($0)) }
  }

  /// The files of a folder that end in `.ahap`, by their names without it.
  public static func folder(_ url: URL) -> PatternResolver {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
    let names = files.filter { $0.hasSuffix(".ahap") }.map { String($0.dropLast(5)) }
    return PatternResolver(names: names.sorted()) { name in
      .file(url.appendingPathComponent("\(name).ahap"))
    }
  }
}
