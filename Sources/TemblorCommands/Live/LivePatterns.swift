import Reading
import PatternWorkflows
import SystemSupport
import HapticFormats
import CommandLineKit
import HapticModel
import HapticPlayback

/// The patterns that a live verb was asked to play; those that cannot be are reported and left out.
struct LivePatterns {
  private(set) var loaded: [LoadedPattern] = []
  private var failures: [(name: String, message: String, status: ExitStatus)] = []

  init(
    _ words: [String], reading: ReadingOptions, formats: FormatRegistry, sounds: PatternInput.SoundLookup,
    _ terminal: Terminal
  ) {
    let (inputs, problems) = PatternInput.find(words, formats: formats, sounds: sounds)
    for problem in problems { fail(problem.path, problem.description, .failure, terminal) }
    for input in inputs {
      do {
        let pattern = try LoadedPattern(input, reading: reading)
        loaded.append(pattern)
        for warning in pattern.soundWarnings() { terminal.report(warning.description.printable) }
      } catch { fail(input.name, Failure.message(error), Failure.status(of: error), terminal) }
    }
  }

  var status: ExitStatus { Failure.worst(failures.map(\.status)) }

  /// Compiles what can be for an engine; the rest is reported and left out.
  mutating func compile(for engine: PlaybackEngine, _ terminal: Terminal) -> [CompiledPattern] {
    var pieces: [CompiledPattern] = []
    var left: [LoadedPattern] = []
    for pattern in loaded {
      do {
        pieces.append(
          CompiledPattern(
            name: pattern.input.name, plans: try pattern.plans(for: engine.profiles, rate: engine.rate),
            duration: pattern.composition.duration))
        left.append(pattern)
      } catch { fail(pattern.input.name, Failure.message(error), Failure.status(of: error), terminal) }
    }
    loaded = left
    return pieces
  }

  private mutating func fail(_ name: String, _ message: String, _ status: ExitStatus, _ terminal: Terminal) {
    failures.append((name, message, status))
    terminal.report(message)
  }

  func write(to list: inout JSONArrayWriter) {
    for pattern in loaded {
      list.object { entry in
        entry.member("pattern", pattern.input.name)
        entry.member("seconds", pattern.composition.duration)
      }
    }
    for failure in failures {
      list.object { entry in
        entry.member("pattern", failure.name)
        entry.member("error", failure.message)
      }
    }
  }
}
