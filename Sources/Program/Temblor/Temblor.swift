// One import for users of the library: everything of the package but Apple's interface and the
// program.

@_exported public import ReviewPages
@_exported public import Reading
@_exported public import HapticFormats
@_exported public import HapticModel
@_exported public import HapticOutputs
@_exported public import HapticPlayback
@_exported public import HapticRender
@_exported public import ListeningTests
@_exported public import PatternComparison
@_exported public import PatternRules
@_exported public import PatternWorkflows
@_exported public import ShippedFiles
@_exported public import SignalAnalysis
@_exported public import SignalPlots
@_exported public import SoundFile
@_exported public import SoundFollowing
@_exported public import SoundTracing
@_exported public import TransducerCalibration
@_exported public import TransducerProfiles
