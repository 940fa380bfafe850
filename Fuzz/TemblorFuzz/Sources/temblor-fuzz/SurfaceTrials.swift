import HapticModel
import HapticRender
import PatternComparison
import Reading
import TransducerProfiles

@testable import CommandLineKit
@testable import CommandServer
@testable import ListeningTests
@testable import PatternWorkflows
@testable import ReviewPages
@testable import SystemSupport
@testable import TemblorCommands

/// Reads a text as the file of an array, and checks the gains of the pan law.
struct ArrayTrial {
  /// Positions within and far beyond an array.
  private static let places = [-1e300, -180, -1, 0, 0.3, 359.9, 1e300]

  let text: [UInt8]

  func run() {
    let result = ArrayCheckResult(
      text: text, name: "t", folder: "/nonexistent", library: ProfileLibrary(userFolder: nil))
    for finding in result.findings {
      requireOneLine(finding.description)
    }
    let hasError = result.findings.contains { $0.severity == .error }
    switch result.outcome {
    case .failure(let error):
      requireOneLine(error.description)
      require(hasError, "refused without a finding")
    case .success(let array):
      require(!hasError && !array.transducers.isEmpty, "an array with errors, or an empty one")
      for x in Self.places {
        let gains = array.transducerGains(at: ArrayPosition(x, -x / 3))
        let power = gains.reduce(0) { $0 + $1 * $1 }
        require(gains.count == array.transducers.count, "\(gains.count) gains")
        require(abs(power - 1) < 1e-6, "gains of the power \(power) at \(x)")
      }
    }
  }
}

/// Reads each line of a text as a command of `listen`.
struct ListenTrial {
  let text: [UInt8]

  func run() {
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n").prefix(16) {
      guard let request = CommandGrammar.parseRequest(String(line)) else { continue }
      if case .failure(let error) = request.command { requireOneLine(error.description) }
      guard line.unicodeScalars.first(where: { $0 != " " && $0 != "\t" }) != "@" else { continue }
      let tagged = CommandGrammar.parseRequest("@t " + line)
      require(tagged?.command == request.command, "a tag changes what is read")
    }
  }
}

/// Reads a text as the value of each option that has a language of its own, and as a command line.
struct OptionTrial {
  private static let program = TemblorProgram.makeProgram()
  private static let render = RenderCommand.definition()
  private static let audition = AuditionCommand.definition()

  let text: [UInt8]

  func run() {
    // Arguments of a program hold no NUL.
    let word = String(decoding: text.filter { $0 != 0 }, as: UTF8.self)
    for option in ["--haptics", "--audio"] {
      attempt { _ = try RoutingOptions.parseChannels(word, option: option) }
    }
    attempt {
      _ = try ChannelRouting.ChannelSettings(
        word, option: "--channel", profileNamed: { _ in .phone })
    }
    for layout in TransducerArray.Layout.allCases {
      attempt {
        let points = try PanArgument.parsePath(word, in: layout).points
        require(
          zip(points, points.dropFirst()).allSatisfy { $0.timeSeconds <= $1.timeSeconds },
          "times go backwards")
        require(
          points.map(\.position).allSatisfy {
            $0.firstCoordinate.isFinite && $0.secondCoordinate.isFinite
          },
          "no position")
      }
    }
    attempt {
      let tolerance = try ToleranceOption(word).tolerance
      let limits = [tolerance.decibels, tolerance.seconds, tolerance.percent]
      require(limits.allSatisfy { $0.isFinite && $0 >= 0 }, "limits of \(limits)")
    }
    _ = SimulatedListener(word)
    attempt { _ = try LoopRange(Self.audition.parseArguments(["a", "b", "--loop-range=\(word)"])) }
    attempt { _ = try Self.render.parseArguments(["a", "--duration=\(word)"]) }
    let words = word.split(separator: " ").map(String.init)
    guard let verb = words.first else { return }
    attempt { _ = try Self.program.findCommand(verb).parseArguments(Array(words.dropFirst())) }
  }

  private func attempt(_ read: () throws -> Void) {
    do {
      try read()
    } catch let error as UsageError {
      requireOneLine("\(error)")
    } catch {
      fatalError("no error of usage: \(error)")
    }
  }
}

/// Keeps a blind test whose answers and names are a text, which must read back as it was.
struct BlindTrial {
  let text: [UInt8]

  func run() {
    var choices = Choices(text)
    let seed = choices.state & ABXTest.maximumSeed
    var test = ABXTest(seed: seed, plannedTrialCount: choices.pick(nil, 1, 16, 0, -4))
    for (index, byte) in text.prefix(64).enumerated() {
      test.recordSwitch(to: ABXTest.SoundSelection.allCases[Int(byte >> 1) % 3])
      test.recordAnswer(byte & 1 == 0 ? .a : .b, at: Double(index))
    }
    let name = String(decoding: text, as: UTF8.self)
    let abxTake = ABXRecord.Take(
      name: name, sha256: SHA256.hash(of: text), playbackGain: 0.5, durationSeconds: 1)
    let record = ABXRecord(
      test: test, takeA: abxTake, takeB: abxTake, levelMatchName: "none", profileName: name,
      strength: 1, program: name,
      renderingModelVersion: 1, startTime: choices.pick(nil, name),
      deviceName: choices.pick(nil, name),
      isSimulated: true)
    do {
      let document = try JSONDocument(text: record.json(), name: "t")
      let root = document.root
      for found in [root["a"]?["name"], root["b"]?["name"], root["profile"], root["program"]] {
        // By scalars: equal strings may be written in different ones.
        let isSame = found?.string.map { $0.unicodeScalars.elementsEqual(name.unicodeScalars) }
        require(isSame == true, "a name changes in the record")
      }
      require(root["seed"]?.number == Double(seed), "another seed")
      let answers = root["trials"]?.elements.map { $0["answer"]?.string } ?? []
      require(answers == test.trials.map(\.answer.rawValue), "other answers")
      require(test.plannedTrialCount.map { answers.count <= $0 } ?? true, "too many answers")
      let chance = root["result"]?["pValue"]?.number ?? -1
      require((0...1).contains(chance), "a probability of \(chance)")
    } catch {
      fatalError("the record is not JSON: \(error)")
    }
    requireOneLine(test.result.sentence)
  }
}
