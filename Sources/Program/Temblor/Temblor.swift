// The umbrella module of the library: patterns, formats, rendering, sound files, profiles, and
// playback. `TemblorLab` adds measurement, comparison, plots, and listening tests.

@_exported public import HapticFormats
@_exported public import HapticModel
@_exported public import HapticOutputs
@_exported public import HapticPlayback
@_exported public import HapticRender
@_exported public import Reading
@_exported public import ShippedFiles
@_exported public import SignalAnalysis
@_exported public import SoundFile
@_exported public import TransducerProfiles
@_exported public import VendorFormats
