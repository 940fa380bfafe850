import CommandLineKit
import HapticFormats
import SystemSupport

/// Conflicts between the changes of a command line.
///
/// All changes apply at once, and all paths refer to the pattern before the changes. A change of a
/// part or a field that another change removes therefore has no effect.
enum ChangeConflicts {
  /// Throws an error that names the first change without effect, and the removal that conflicts
  /// with it.
  static func checkChanges(_ changes: [PatternChange]) throws(UsageError) {
    var removalIndicesByPath: [[PatternPathComponent]: Int] = [:]
    for (index, change) in changes.enumerated() {
      if case .remove(let path) = change {
        removalIndicesByPath[PatternPathComponent.components(of: path)] = index
      }
    }
    guard !removalIndicesByPath.isEmpty else { return }
    for (index, change) in changes.enumerated() {
      for path in requiredPaths(of: change) {
        guard let removalIndex = removalIndicesByPath[path] else { continue }
        let firstText = text(of: changes[min(index, removalIndex)])
        let secondText = text(of: changes[max(index, removalIndex)])
        throw UsageError(
          """
          \(firstText.inQuotes) and \(secondText.inQuotes) cannot be used together; omit one of \
          the changes
          """
        )
      }
    }
  }

  /// Returns the paths of the parts and the field that must remain for a change to have an effect,
  /// from the outermost part.
  ///
  /// A copy or a new entry can replace the part that precedes it, so only the parts that contain
  /// this part must remain. A removal needs no part to remain.
  private static func requiredPaths(of change: PatternChange) -> [[PatternPathComponent]] {
    guard let path = change.path else { return [] }
    let components = PatternPathComponent.components(of: path)
    let requiredComponents =
      switch change {
      case .set, .addPoint: components[...]
      case .duplicate, .add: components.dropLast()
      case .remove: components.prefix(0)
      }
    return requiredComponents.indices.map { Array(components[...$0]) }
  }

  /// Returns a change without its values, as the user writes it.
  private static func text(of change: PatternChange) -> String {
    switch change {
    case .set(let path, _): "set \(path)"
    case .remove(let path): "remove \(path)"
    case .duplicate(let path): "duplicate \(path)"
    case .add(_, let path): path.map { "add after \($0)" } ?? "add"
    case .addPoint(_, _, let path): "add-point \(path)"
    }
  }
}
