import Testing

@testable import CommandServer
@testable import TemblorCommands

/// Sounds of a lower priority are quieter while one of a higher one plays.
@Suite struct ListenDuckingTests {
  let studio = ListenStudio()

  @Test func aHigherPriorityQuietensLowerOnesAndGivesThemBack() {
    studio.ask("hum 1 0.5 4 as low")
    studio.run(0.5)
    let full = studio.level(0.2...0.5)
    // A sound without output, so that only the lower one is measured.
    #expect(studio.ask("duck 0.25 attack 0.1 release 0.2") == "ok")
    #expect(studio.ask("hum 0 0.5 1 at 1 as high priority 5").hasPrefix("ok"))
    for _ in 0..<40 {
      studio.run(0.05)
    }
    #expect(abs(studio.level(0.8...1.0) / full - 1) < 0.02)
    #expect(abs(studio.level(1.2...1.9) / full - 0.25) < 0.02)
    for _ in 0..<20 {
      studio.run(0.05)
    }
    #expect(abs(studio.level(2.6...3) / full - 1) < 0.02)
  }

  @Test func whatBeginsMeanwhileBeginsQuiet() {
    studio.ask("hum 0 0.5 3 as high priority 2")
    studio.ask("duck 0.5")
    studio.run(0.1)
    studio.ask("hum 1 0.5 2 as low")
    studio.ask("hum 1 0.5 2 as equal priority 2")
    studio.run(0.5)
    #expect(studio.voice("low")?.gainIncludingDucking == 0.5)
    #expect(studio.voice("equal")?.gainIncludingDucking == 1)
    studio.ask("set strength 0.5 of low")
    #expect(studio.voice("low")?.gainIncludingDucking == 0.25)
    // The other of a higher priority still plays.
    studio.ask("stop high")
    studio.run(0.2)
    #expect(studio.voice("low")?.gainIncludingDucking == 0.25)
    studio.ask("stop equal")
    studio.run(0.2)
    #expect(studio.voice("low")?.gainIncludingDucking == 0.5)
  }

  @Test func withoutDuckPrioritiesChangeNothing() {
    studio.ask("hum 1 0.5 1 as low")
    studio.ask("play pulse loop priority 9")
    studio.run(0.2)
    #expect(studio.voice("low")?.gainIncludingDucking == 1)
    #expect(studio.ask("play pulse priority 10").hasPrefix("error invalid-value: N must be 0 to 9"))
  }
}
