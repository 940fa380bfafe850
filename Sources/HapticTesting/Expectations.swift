internal import CoreHaptics
public import CoreHapticsTesting
public import Foundation
public import Testing

/// Expects that what was played is what its snapshot keeps, or writes the snapshot; see `HapticSnapshot` of `CoreHapticsTesting`.
///
/// - Parameters:
///   - played: The record of the virtual device.
///   - name: The name of the snapshot; by default that of the test function.
///   - tolerance: How far what was played may be from it.
///   - sourceLocation: Where a failure is shown.
///   - function: The test function, which names the snapshot.
///   - filePath: The file of the test, beside which snapshots are kept.
public func expectHaptics(
  _ played: PlayedHaptics, named name: String? = nil, within tolerance: HapticTolerance = .perceptible,
  sourceLocation: SourceLocation = #_sourceLocation, function: String = #function, filePath: String = #filePath
) {
  let failure = HapticSnapshot.failure(of: played, named: name ?? function, within: tolerance, filePath: filePath)
  if let failure { Issue.record("\(failure)", sourceLocation: sourceLocation) }
}

/// Expects that what was played is what an AHAP file plays.
///
/// - Parameters:
///   - played: The record of the virtual device.
///   - url: The file.
///   - start: When it starts, in seconds of the device; what was played before is not compared.
///   - tolerance: How far what was played may be from it.
///   - sourceLocation: Where a failure is shown.
public func expectHaptics(
  _ played: PlayedHaptics, equal url: URL, from start: Double = 0, within tolerance: HapticTolerance = .perceptible,
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
    Issue.record("\((error as? CHHapticError)?.localizedDescription ?? "\(error)")", sourceLocation: sourceLocation)
  }
}
