public import CoreHaptics
internal import Foundation
internal import HapticFormats
internal import HapticModel

extension PlayedHaptics {
  /// What a pattern plays from time 0 on.
  public init(_ pattern: CHHapticPattern) { self.init(pattern.composition) }

  /// What an AHAP file plays from time 0 on.
  ///
  /// Throws a `CHHapticError` where the file is not a pattern.
  public init(contentsOf url: URL) throws { self.init(try CHHapticPattern(contentsOf: url)) }

  /// What was felt as AHAP text that plays the same: what a snapshot keeps.
  ///
  /// Values are rounded to three digits. A continuous event whose intensity or sharpness moves becomes a row of
  /// events that follow each other without a gap, each within 0.02 of what was played.
  public func ahap() throws -> Data {
    var pattern = HapticPattern()
    for event in events where event.isFelt {
      for piece in event.pieces {
        pattern.events.append(
          HapticEvent(
            kind: piece.kind == .transient ? .hapticTransient : .hapticContinuous, time: thousandth(piece.time),
            duration: piece.kind == .transient ? nil : thousandth(piece.duration),
            parameters: [
              .hapticIntensity: Float(thousandth(piece.intensity)),
              .hapticSharpness: Float(thousandth(piece.sharpness)),
            ]))
      }
    }
    return Data(try AHAPDocument(pattern: pattern).formatted())
  }
}

/// A number with no more than three digits behind the point.
private func thousandth(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }

extension PlayedHaptics.Event {
  private static let step = 0.02
  /// The shortest piece, in seconds.
  private static let shortest = 0.005

  var pieces: [PlayedHaptics.Event] {
    guard kind == .continuous, levels.count > 1 else { return [self] }
    var pieces: [PlayedHaptics.Event] = []
    var start = 0.0
    var level = level(at: 0)
    func close(at end: Double) {
      guard end > start else { return }
      var middle = self.level(at: (start + end) / 2)
      middle.time = 0
      pieces.append(PlayedHaptics.Event(kind: kind, time: time + start, duration: end - start, levels: [middle]))
    }
    var next = Self.shortest
    while next < duration {
      let now = self.level(at: next)
      if abs(now.intensity - level.intensity) >= Self.step || abs(now.sharpness - level.sharpness) >= Self.step {
        close(at: next)
        (start, level) = (next, now)
      }
      next += Self.shortest
    }
    close(at: duration)
    return pieces
  }
}

extension [PlayedHaptics.Event] {
  /// Continuous events that follow each other without a gap as one that moves.
  var joined: [PlayedHaptics.Event] {
    var joined: [PlayedHaptics.Event] = []
    for event in sorted(by: { $0.time < $1.time }) {
      guard event.kind == .continuous,
        let index = joined.lastIndex(where: {
          $0.kind == .continuous && abs($0.time + $0.duration - event.time) < 0.0015
        })
      else {
        joined.append(event)
        continue
      }
      let offset = event.time - joined[index].time
      if let last = joined[index].levels.last, last.time < joined[index].duration {
        var end = last
        end.time = Swift.max(last.time, offset - 1e-6)
        joined[index].levels.append(end)
      }
      joined[index].levels += event.levels.map { level in
        var level = level
        level.time += offset
        return level
      }
      joined[index].duration = offset + event.duration
    }
    return joined
  }
}
