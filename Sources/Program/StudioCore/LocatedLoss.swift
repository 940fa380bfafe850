internal import HapticFormats
internal import Reading

/// A loss of information with its location in the source file.
struct LocatedLoss {
  var loss: Loss
  var location: FileLocation
}
