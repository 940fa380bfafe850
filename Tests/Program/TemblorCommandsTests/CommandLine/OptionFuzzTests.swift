import HapticRender
import ListeningTests
import PatternComparison
import TestSupport
import Testing
import TransducerProfiles

@testable import CommandLineKit
@testable import PatternWorkflows
@testable import TemblorCommands

/// Parsers of option values accept every text, or refuse it with a message of one line.
@Suite struct OptionFuzzTests {
  private static let words = [
    ",", ":", "=", "/", "-", "+", ".", "%", "dB", "ms", "1e999", "nan", "inf", "-0", "0x1p3", "∞",
    "\u{202E}", "\0",
    "\n", " ", "99999999999999999999", "none", "invert", "profile=phone",
  ]

  private static let languages:
    [(name: String, seeds: [String], read: @Sendable (String) throws -> Void)] = [
      (
        "--haptics", ["1,2:-6", "none", "3"],
        { _ = try RoutingOptions.parseChannels($0, option: "--haptics") }
      ),
      (
        "--channel",
        [
          "2=haptics,gain=-3,delay=2ms,invert", "1=crossover=low:80,eq=40:-3:2", "1=audio",
          "4=left",
        ],
        {
          _ = try ChannelRouting.ChannelSettings(
            $0, option: "--channel", profileNamed: { _ in .phone })
        }
      ),
      (
        "--pan", ["0:-1,0.5:1", "0.25", "0:0,1:90,2:-90"],
        { text in
          for layout in [TransducerArray.Layout.line, .ring, .plane] {
            _ = try? PanArgument.parsePath(text, in: layout)
          }
          _ = try PanArgument.parsePath(text, in: .line)
        }
      ), ("--tolerance", ["0.5dB,5ms,2%", "0", "1 dB, 2 %"], { _ = try ToleranceOption($0) }),
      ("--simulate", ["abba", "right", "wrong"], { _ = try SimulatedListener(option: $0) }),
      (
        "--loop-range", ["0.5-1.2", "0.5-"],
        { text in
          _ = try LoopRange(
            AuditionCommand.definition().parseArguments(["a", "b", "--loop-range=\(text)"]))
        }
      ),
      (
        "--duration", ["2s", "44.1kHz", "80%", "1min"],
        { text in
          let arguments = try RenderCommand.definition().parseArguments([
            "a", "--duration=\(text)", "--rate=\(text)", "--strength=\(text)",
          ])
          _ = try? arguments.number("--strength", in: 0...1)
          _ = try? arguments.integer("--rate", in: 8_000...192_000)
          _ = try arguments.number("--duration", in: 0.001...86_400)
        }
      ),
    ]

  @Test func everyTextIsAcceptedOrRefusedInOneLine() {
    let count = InputMutator.caseCount(default: 500)
    for (index, language) in Self.languages.enumerated() {
      var mutator = InputMutator(seed: UInt64(index), words: Self.words)
      for iteration in 0..<count {
        let text = mutator.mutated(language.seeds[iteration % language.seeds.count])
        do {
          try language.read(text)
        } catch {
          #expect(
            error is UsageError && InputMutator.isOneLine("\(error)"),
            "\(language.name) \(text.debugDescription): \(error)"
          )
        }
      }
      for seed in language.seeds.prefix(1) {
        #expect(throws: Never.self) { try language.read(seed) }
      }
    }
  }

  @Test func everyCommandLineIsAcceptedOrRefusedInOneLine() {
    let lines = [
      "play heartbeat --loop 3 --device null", "render a -o b.wav --stems --format flac",
      "check --only design --disable transient-gap a.ahap", "compare a b --tolerance 1dB -o r.html",
      "calibrate take.wav --profile phone --reference-channel 2", "help profiles new",
    ]
    let program = TemblorProgram.makeProgram()
    var mutator = InputMutator(seed: 99, words: Self.words + ["--", " -", " --output="])
    for iteration in 0..<InputMutator.caseCount(default: 500) {
      let arguments = mutator.mutated(lines[iteration % lines.count]).split(separator: " ").map(
        String.init)
      guard let verb = arguments.first else { continue }
      do {
        _ = try program.findCommand(verb).parseArguments(Array(arguments.dropFirst()))
      } catch {
        #expect(InputMutator.isOneLine("\(error)"), "\(arguments): \(error)")
      }
    }
  }
}
