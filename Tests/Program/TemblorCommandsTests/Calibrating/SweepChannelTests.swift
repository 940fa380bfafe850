import HapticPlayback
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

/// The output channels of `temblor sweep` and `temblor calibrate`.
@Suite struct SweepChannelTests {
  @Test("A channel list accepts numbers or 'all'")
  func channelListsAreRead() throws {
    #expect(try RoutingOptions.parseChannelNumbers("2") == [2])
    #expect(try RoutingOptions.parseChannelNumbers("3,4") == [3, 4])
    #expect(try RoutingOptions.parseChannelNumbers("all") == [])
    for text in ["", "0", "none", "1:-6", "2,2"] {
      #expect(throws: UsageError.self, "\(text)") { try RoutingOptions.parseChannelNumbers(text) }
    }
  }

  @Test("The highest selected channel must be among the output channels")
  func selectedChannelsMustExist() throws {
    let arguments = try SweepCommand.definition.parseArguments([
      "--profile", "dayton-bst-1", "--channels", "2", "--haptics", "1,3", "--device", "null",
    ])
    #expect(try SweepCommand.channelNumbers(arguments) == [1, 3])
    let error = #expect(throws: UsageError.self) {
      try SweepPlayer(arguments, options: SweepOptions(arguments), time: SystemTimeSource())
    }
    #expect(error?.description == "channel 3 is in use, but '--channels' is 2")
  }
}
