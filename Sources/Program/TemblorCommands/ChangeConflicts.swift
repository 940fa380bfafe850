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
    var removalIndicesByPath: [[String]: Int] = [:]
    for (index, change) in changes.enumerated() {
      if case .remove(let path) = change {
        removalIndicesByPath[pathSteps(of: path)] = index
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
  private static func requiredPaths(of change: PatternChange) -> [[String]] {
    guard let path = change.path else { return [] }
    let steps = pathSteps(of: path)
    let requiredStepCount =
      switch change {
      case .set, .addPoint: steps.count
      case .duplicate, .add: steps.count - 1
      case .remove: 0
      }
    return (0..<requiredStepCount).map { Array(steps[...$0]) }
  }

  /// Returns the steps of a path. Paths of the same part have equal steps, even if an index is
  /// written with leading zeros.
  private static func pathSteps(of path: String) -> [String] {
    path.split(separator: ".", omittingEmptySubsequences: false).map { step in
      let components = step.split(separator: "[", maxSplits: 1, omittingEmptySubsequences: false)
      guard components.count == 2, let number = Int(components[1].dropLast()) else {
        return String(step)
      }
      return "\(components[0])[\(number)]"
    }
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
