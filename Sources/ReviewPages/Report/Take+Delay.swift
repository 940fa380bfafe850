internal import HapticModel
internal import PatternComparison
internal import SignalAnalysis

extension Signal {
  /// The signal behind some silence; the delay is rounded to frames.
  func delayed(by seconds: Double) -> Signal {
    let count = Int((seconds * rate).rounded())
    guard count > 0 else { return self }
    let silence = [Float](repeating: 0, count: count)
    return Signal(channels: channels.map { silence + $0 }, rate: rate)
  }
}

extension HapticPattern {
  /// Moves all events and controls to later times.
  fileprivate mutating func delay(by seconds: Double) {
    for index in events.indices { events[index].time += seconds }
    for index in parameters.indices { parameters[index].time += seconds }
    for index in curves.indices { curves[index].time += seconds }
  }
}

extension Take {
  /// The take, its pattern too, behind some silence.
  func delayed(by seconds: Double) -> Take {
    guard seconds > 0 else { return self }
    var take = self
    take.signal = signal.delayed(by: seconds)
    if case .pattern(var composition) = source {
      for layer in composition.layers.indices {
        composition.layers[layer].pattern.delay(by: seconds)
      }
      take.source = .pattern(composition)
    }
    return take
  }
}
