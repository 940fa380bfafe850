import Testing

@testable import CommandServer
@testable import TemblorCommands

/// Sounds with a lower priority are quieter while a sound with a higher priority plays.
@Suite struct ListenDuckingTests {
  let fixture = ListenFixture()

  @Test func higherPriorityDucksLowerOnesWhileItPlays() {
    fixture.ask("hum 1 0.5 4 as low")
    fixture.run(0.5)
    let fullLevel = fixture.peakLevel(0.2...0.5)
    // A sound without output, so that only the lower one is measured.
    #expect(fixture.ask("duck 0.25 attack 0.1 release 0.2") == "ok")
    #expect(fixture.ask("hum 0 0.5 1 at 1 as high priority 5").hasPrefix("ok"))
    for _ in 0..<40 {
      fixture.run(0.05)
    }
    #expect(abs(fixture.peakLevel(0.8...1.0) / fullLevel - 1) < 0.02)
    #expect(abs(fixture.peakLevel(1.2...1.9) / fullLevel - 0.25) < 0.02)
    for _ in 0..<20 {
      fixture.run(0.05)
    }
    #expect(abs(fixture.peakLevel(2.6...3) / fullLevel - 1) < 0.02)
  }

  @Test func soundsThatStartWhileDuckedAreQuiet() {
    fixture.ask("hum 0 0.5 3 as high priority 2")
    fixture.ask("duck 0.5")
    fixture.run(0.1)
    fixture.ask("hum 1 0.5 2 as low")
    fixture.ask("hum 1 0.5 2 as equal priority 2")
    fixture.run(0.5)
    #expect(fixture.serverSound("low")?.gainIncludingDucking == 0.5)
    #expect(fixture.serverSound("equal")?.gainIncludingDucking == 1)
    fixture.ask("set strength 0.5 of low")
    #expect(fixture.serverSound("low")?.gainIncludingDucking == 0.25)
    // Another sound with a higher priority still plays.
    fixture.ask("stop high")
    fixture.run(0.2)
    #expect(fixture.serverSound("low")?.gainIncludingDucking == 0.25)
    fixture.ask("stop equal")
    fixture.run(0.2)
    #expect(fixture.serverSound("low")?.gainIncludingDucking == 0.5)
  }

  @Test func prioritiesHaveNoEffectWithoutDucking() {
    fixture.ask("hum 1 0.5 1 as low")
    fixture.ask("play pulse loop priority 9")
    fixture.run(0.2)
    #expect(fixture.serverSound("low")?.gainIncludingDucking == 1)
    #expect(
      fixture.ask("play pulse priority 10").hasPrefix("error invalid-value: N must be 0 to 9"))
  }
}
