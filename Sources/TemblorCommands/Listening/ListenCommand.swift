/// One command of the line protocol, read and within its bounds; `ListenGrammar` tells what each does.
///
/// A missing name stands for all that plays.
enum ListenCommand: Equatable, Sendable {
  case play(Play)
  case tap(intensity: Double, sharpness: Double, at: ListenTime)
  case buzz(Buzz)
  case set(Setting)
  case stop(name: String?, at: ListenTime)
  case pause(name: String?)
  case resume(name: String?)
  case seek(name: String, position: Double)
  case loop(name: String, isOn: Bool, end: Double?)
  case rate(name: String, rate: Double)
  case pan(name: String, position: String, ramp: Double)
  case mute(name: String?, isOn: Bool)
  case preload(pattern: String)
  case status
  case list
  case help(verb: String?)
  case quit

  /// A pattern to be played.
  struct Play: Equatable, Sendable {
    /// A file or a shipped pattern's name.
    var pattern: String
    var isLooping = false
    var start = ListenTime.now
    /// By what later commands call it; nothing where it is called as the pattern is.
    var name: String?
    var rate = 1.0
    var strength = 1.0
    /// Seconds into the pattern at which it begins.
    var position = 0.0
  }

  /// A continuous event.
  struct Buzz: Equatable, Sendable {
    var intensity: Double
    var sharpness: Double
    /// Seconds.
    var duration: Double
    var start = ListenTime.now
    var name: String?
  }

  /// A parameter that gets a new value.
  struct Setting: Equatable, Sendable {
    var parameter: ListenParameter
    var value: Double
    /// What it is set of; nothing for all that plays.
    var name: String?
    /// Seconds over which the value is reached.
    var ramp = 0.0
    var start = ListenTime.now
  }
}

/// When something is to be done.
enum ListenTime: Equatable, Sendable {
  /// As soon as can be.
  case now
  /// So many seconds after the command is read.
  case after(Double)
  /// At so many seconds of the session, as `status` counts them.
  case at(Double)
}
