import CommandLineKit
import SystemSupport

/// The keys that move the play head and the region, the same wherever there is a deck.
extension TakeSwitcher {
  /// What they do.
  static let keys = [
    KeyHelp(key: "space", meaning: "pause"), KeyHelp(key: "left right", meaning: "move"),
    KeyHelp(key: "home", meaning: "beginning"),
    KeyHelp(key: "[ ]", meaning: "set loop start, end"),
    KeyHelp(key: "backspace", meaning: "loop everything"),
    KeyHelp(key: "l", meaning: "loop on or off"),
  ]

  /// Does what a key asks for; answers whether the key means anything here.
  func press(_ key: KeyPress) throws -> Bool {
    switch key {
    case .character(" "): try togglePause()
    case .left: try step(-1)
    case .right: try step(1)
    case .pageUp: try step(-4)
    case .pageDown: try step(4)
    case .home: try moveToBeginning()
    case .character("["): try beginRegionHere()
    case .character("]"): try endRegionHere()
    case .backspace: try setRegion(nil)
    case .character("l"), .character("L"): try toggleLoop()
    default: return false
    }
    return true
  }

  /// What repeats, for the live line.
  var loopRemark: String {
    guard isLooping else { return "no loop" }
    guard let region else { return "loop" }
    return "loop \(NumberFormatting.rounded(region.lowerBound, places: 2))-"
      + NumberFormatting.rounded(region.upperBound, places: 2)
  }
}
