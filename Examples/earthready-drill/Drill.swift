import CoreHaptics
import HapticManagement

/// The course of the drill: splash, scenario, questions, result.
@MainActor
struct Drill {
  /// Seconds from one picture of the seismograph to the next.
  private static let pictureInterval = 0.04
  /// Seconds for which a clock may be paused before the system's is used.
  private static let patience = 1.0

  /// Plays.
  let haptics: HapticManager
  /// Shows.
  let screen: Screen
  /// Returns when the next picture is due.
  let time: DrillTime

  /// Goes through the drill; answers whether it was gone through to the end.
  func run() async -> Bool {
    screen.title("EarthReady: an earthquake drill")
    if !haptics.isEnabled {
      screen.say("Haptics are off; 'earthready-drill --haptics on' turns them on.")
    } else if !haptics.isEngineAvailable {
      screen.say("There is nothing to feel it with; the picture shows what would be felt.")
    }
    haptics.preloadPatterns()
    await play("earthquake-splash") { $0.playEarthquakeSplash() }

    screen.say()
    screen.title("Monday, 9:41. You sit at your desk on the third floor.")
    await play("earthquake-simulation") { $0.playEarthquakeSimulation() }

    var rightCount = 0
    for question in Question.all {
      guard let isRight = await ask(question) else {
        screen.say()
        screen.say("The drill was left before its end.")
        return false
      }
      if isRight {
        rightCount += 1
      }
    }

    screen.say()
    screen.title("\(rightCount) of \(Question.all.count) right.")
    if rightCount == Question.all.count {
      await play("perfect-score") { $0.playPerfectScore() }
    } else {
      await play("encouragement") { $0.playEncouragement() }
      screen.say("Once more, and it will be there when it counts.")
    }
    return true
  }

  /// Asks a question until there is an answer; nothing where the input ends.
  private func ask(_ question: Question) async -> Bool? {
    screen.say()
    screen.title(question.text)
    for (number, answer) in zip(1..., question.answers) {
      screen.say("  \(number)  \(answer)")
    }
    while true {
      screen.write("> ")
      guard let line = readLine() else { return nil }
      guard let number = Int(line.filter { !$0.isWhitespace }),
        question.answers.indices.contains(number - 1)
      else {
        screen.say("A number from 1 to \(question.answers.count), please.")
        continue
      }
      let isRight = number - 1 == question.right
      screen.say((isRight ? "Right. " : "Not quite. ") + question.lesson)
      if isRight {
        await play("correct-answer") { $0.playCorrectAnswer() }
      } else {
        await play("wrong-answer") { $0.playWrongAnswer() }
      }
      return isRight
    }
  }

  /// Plays a pattern and draws it in step with the engine's clock, or the world's where no engine
  /// runs.
  private func play(_ name: String, _ call: (HapticManager) -> Void) async {
    guard let pattern = haptics.pattern(named: name),
      let graph = try? Seismograph(pattern, columnCount: Screen.width)
    else { return }
    let start = (engine: haptics.currentTime, world: time.now)
    call(haptics)
    while true {
      await time.pass(Self.pictureInterval)
      let world = time.now - start.world
      var elapsed = haptics.currentTime - start.engine
      if !haptics.isEnabled || !haptics.isEngineAvailable || world > elapsed + Self.patience {
        elapsed = world
      }
      let isLast = elapsed >= graph.duration
      screen.draw(graph.columns(after: elapsed), isLast: isLast)
      if isLast { return }
    }
  }
}
