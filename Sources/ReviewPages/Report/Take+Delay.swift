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

extension Take {
  /// The take, its pattern too, behind some silence.
  func delayed(by seconds: Double) -> Take {
    guard seconds > 0 else { return self }
    var take = self
    take.signal = signal.delayed(by: seconds)
    if case .pattern(var pattern) = source {
      for index in pattern.events.indices { pattern.events[index].time += seconds }
      for index in pattern.parameters.indices { pattern.parameters[index].time += seconds }
      for index in pattern.curves.indices { pattern.curves[index].time += seconds }
      take.source = .pattern(pattern)
    }
    return take
  }
}
