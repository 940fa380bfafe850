internal import CoreHaptics
public import CoreHapticsTesting
public import Foundation
public import Testing

/// Expects that what was played is what its snapshot keeps, or writes the snapshot; see ``HapticSnapshot``.
///
/// - Parameters:
///   - name: The name of the snapshot; by default that of the test function.
///   - tolerance: How far what was played may be from it.
public func expectHaptics(
  _ played: PlayedHaptics, named name: String? = nil,
  within tolerance: HapticTolerance = .perceptible,
  sourceLocation: SourceLocation = #_sourceLocation, function: String = #function,
  filePath: String = #filePath
) {
  let failure = HapticSnapshot.failure(
    of: played, named: name ?? function, within: tolerance, filePath: filePath)
  if let failure { Issue.record("\(failure)", sourceLocation: sourceLocation) }
}

/// Expects that what was played is what an AHAP file plays.
///
/// - Parameters:
///   - url: The file.
///   - start: When it starts, in seconds of the device; what was played before is not compared.
///   - tolerance: How far what was played may be from it.
public func expectHaptics(
  _ played: PlayedHaptics, equal url: URL, from start: Double = 0,
  within tolerance: HapticTolerance = .perceptible,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  do {
    let expected = try PlayedHaptics(contentsOf: url)
    let differences = played.from(start).differences(from: expected, within: tolerance)
    if differences.isEmpty { return }
    Issue.record(
      "What was played differs from \(url.lastPathComponent):\n  \(differences.joined(separator: "\n  "))",
      sourceLocation: sourceLocation)
  } catch {
    Issue.record(
      "\((error as? CHHapticError)?.localizedDescription ?? "\(error)")",
      sourceLocation: sourceLocation)
  }
}
