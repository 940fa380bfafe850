// The umbrella module of the laboratory: everything in `Temblor`, and the modules for checking,
// comparing, tracing, calibrating, plotting, and listening tests.

@_exported public import ListeningTests
@_exported public import PatternComparison
@_exported public import PatternRules
@_exported public import PatternWorkflows
@_exported public import RecordingAnalysis
@_exported public import ReviewPages
@_exported public import SignalPlots
@_exported public import SoundFollowing
@_exported public import SoundTracing
@_exported public import Temblor
@_exported public import TransducerCalibration
