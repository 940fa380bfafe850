internal import CoreHaptics

extension HapticLog.Action: CustomStringConvertible {
  /// A few words, such as `stopped by audioSessionInterrupt`.
  public var description: String {
    switch self {
    case .engineMade: "made"
    case .engineStarted: "started"
    case .engineStartFailed(let code): "start failed with \(code)"
    case .engineStopped(let reason): reason.map { "stopped by \($0)" } ?? "stopped on request"
    case .engineReset: "reset"
    case .hapticsMuted(let isMuted): isMuted ? "haptics muted" : "haptics unmuted"
    case .audioMuted(let isMuted): isMuted ? "audio muted" : "audio unmuted"
    case .handlerCalled(let handler): "\(handler.rawValue) handler called"
    case .playerMade(let count): "made with \(count) event\(count == 1 ? "" : "s")"
    case .started(let time): "started at \(thousandths(time)) s"
    case .stopped(let time): "stopped at \(thousandths(time)) s"
    case .paused(let time): "paused at \(thousandths(time)) s"
    case .resumed(let time): "resumed at \(thousandths(time)) s"
    case .sought(let offset): "sought to \(thousandths(offset)) s of the pattern"
    case .cancelled: "cancelled"
    case .ended(let time): "ended at \(thousandths(time)) s"
    case .looping(let isOn): isOn ? "loops" : "does not loop"
    case .rate(let rate): "plays at rate \(thousandths(rate))"
    case .muted(let isMuted): isMuted ? "muted" : "unmuted"
    case .sent(let id, let value, let time):
      "\(id.rawValue) \(thousandths(Double(value))) sent for \(thousandths(time)) s"
    case .scheduledCurve(let id, let time): "curve of \(id.rawValue) scheduled for \(thousandths(time)) s"
    case .generator(let call): "generator: \(call)"
    case .systemSound(let number): "system sound \(number)"
    case .breach(let breach): "\(breach)"
    }
  }
}

extension HapticLog.GeneratorCall: CustomStringConvertible {
  /// A few words, such as `impact heavy, intensity 0.700`.
  public var description: String {
    switch self {
    case .impact(let style, let intensity):
      "impact \(style.rawValue)" + (intensity == 1 ? "" : ", intensity \(thousandths(intensity))")
    case .notification(let type): "notification \(type.rawValue)"
    case .selection: "selection"
    case .alignment: "alignment"
    case .pathCompleted: "path completed"
    }
  }
}
