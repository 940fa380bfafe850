// Haptic patterns in C#, for Unity and .NET: renders patterns, and plays them on devices.
//
// Unity: put this file into Assets, and libtemblor.so into Assets/Plugins/x86_64.
// Mono:  mcs -define:TEMBLOR_MAIN Temblor.cs && LD_LIBRARY_PATH=../lib mono Temblor.exe knock.ahap
using System;
using System.Runtime.InteropServices;
using System.Text;

/// <summary>The reason of a failed call, as the JSON object of Library/reports.schema.json#/$defs/finding.</summary>
public sealed class TemblorException : Exception
{
    public TemblorException(int status, string reason) : base(reason) { Status = status; }

    /// <summary>A status of temblor.h, such as 1 for an invalid argument.</summary>
    public int Status { get; }
}

/// <summary>A host of the library. It may be used by one thread at a time.</summary>
public sealed class Temblor : IDisposable
{
    private const string Library = "libtemblor.so.0";

    [DllImport(Library)] private static extern IntPtr temblor_version();
    [DllImport(Library)] private static extern IntPtr temblor_create();
    [DllImport(Library)] private static extern void temblor_release(IntPtr host);
    [DllImport(Library)] private static extern int temblor_status(IntPtr host);
    [DllImport(Library)] private static extern IntPtr temblor_output(IntPtr host);
    [DllImport(Library)] private static extern int temblor_output_length(IntPtr host);
    [DllImport(Library)] private static extern IntPtr temblor_samples(IntPtr host);
    [DllImport(Library)] private static extern int temblor_open(
        IntPtr host, int slot, byte[] name, int nameLength, byte[] content, int length);
    [DllImport(Library)] private static extern int temblor_add_profile(IntPtr host, byte[] content, int length);
    [DllImport(Library)] private static extern int temblor_render(IntPtr host, int slot, int profile, double rate);
    [DllImport(Library)] private static extern int temblor_session_open(
        IntPtr host, byte[] device, int length, int profile, double rate, double strength);
    [DllImport(Library)] private static extern int temblor_session_play(IntPtr host, int slot, int profile, long frame);
    [DllImport(Library)] private static extern int temblor_session_control(
        IntPtr host, int play, int control, double value, double seconds, long frame);
    [DllImport(Library)] private static extern void temblor_session_close(IntPtr host);

    /// <summary>A control of a playback, with its number in temblor.h.</summary>
    public enum Control { Intensity = 0, Sharpness = 1, Gain = 2, Stop = 3 }

    private IntPtr host = temblor_create();

    /// <summary>The version of the library.</summary>
    public static string Version => Marshal.PtrToStringAnsi(temblor_version());

    public void Dispose()
    {
        temblor_release(host);
        host = IntPtr.Zero;
        GC.SuppressFinalize(this);
    }

    ~Temblor() { temblor_release(host); }

    /// <summary>Reads a pattern file into a slot, 0 to 65535.</summary>
    public void Open(int slot, string name, byte[] content)
    {
        byte[] title = Encoding.UTF8.GetBytes(name);
        temblor_open(host, slot, title, title.Length, content, content.Length);
        Check();
    }

    /// <summary>Adds a profile from the content of its JSON file, and returns its number.</summary>
    public int AddProfile(byte[] content)
    {
        int profile = temblor_add_profile(host, content, content.Length);
        Check();
        return profile;
    }

    /// <summary>Renders a slot on one channel, from -1 to 1, for example for AudioClip.SetData.</summary>
    public float[] Render(int slot, int profile = 0, double rate = 48000)
    {
        float[] samples = new float[temblor_render(host, slot, profile, rate)];
        Check();
        if (samples.Length > 0) Marshal.Copy(temblor_samples(host), samples, 0, samples.Length);
        return samples;
    }

    /// <summary>Opens a device by its name, such as "default".</summary>
    public void OpenDevice(string device, int profile = 0, double rate = 48000, double strength = 1)
    {
        byte[] name = Encoding.UTF8.GetBytes(device);
        temblor_session_open(host, name, name.Length, profile, rate, strength);
        Check();
    }

    /// <summary>Plays a slot immediately, or at a frame of the device, and returns the number of the playback.</summary>
    public int Play(int slot, int profile = 0, long frame = -1)
    {
        int play = temblor_session_play(host, slot, profile, frame);
        Check();
        return play;
    }

    /// <summary>Moves a control of a playback. Returns false if the playback has ended or no device is open.</summary>
    public bool Set(int play, Control control, double value = 0, double seconds = 0)
    {
        const int invalidState = 3;
        if (temblor_session_control(host, play, (int)control, value, seconds, -1) == 1) return true;
        if (temblor_status(host) != invalidState) Check();
        return false;
    }

    /// <summary>Fades out, and closes the device.</summary>
    public void CloseDevice() { temblor_session_close(host); }

    private void Check()
    {
        int status = temblor_status(host);
        if (status == 0) return;
        byte[] reason = new byte[temblor_output_length(host)];
        if (reason.Length > 0) Marshal.Copy(temblor_output(host), reason, 0, reason.Length);
        throw new TemblorException(status, Encoding.UTF8.GetString(reason).Trim());
    }
}

#if TEMBLOR_MAIN
public static class Program
{
    public static int Main(string[] words)
    {
        using (Temblor temblor = new Temblor())
        {
            try
            {
                temblor.Open(0, words[0], System.IO.File.ReadAllBytes(words[0]));
                float[] samples = temblor.Render(0);
                float peak = 0;
                foreach (float sample in samples) peak = Math.Max(peak, Math.Abs(sample));
                Console.WriteLine("{0:F3} s, peak {1:F3}", samples.Length / 48000.0, peak);
                temblor.OpenDevice("null:");
                temblor.Set(temblor.Play(0), Temblor.Control.Stop);
                return 0;
            }
            catch (TemblorException error)
            {
                Console.Error.WriteLine(error.Message);
                return 2;
            }
        }
    }
}
#endif
