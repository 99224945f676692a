/* SPDX-License-Identifier: MIT */
/*
 * Load of probe_java.t: java Load THREADS; what it reads and answers is that of probe_load.py.
 * One deflate() and one inflate() a round. There is much garbage, and exceptions that the runtime makes of faults.
 */
import java.io.*;
import java.security.MessageDigest;
import java.util.*;
import java.util.regex.*;
import java.util.stream.*;
import java.util.zip.*;

class Load {
	static final Object changed = new Object();
	static boolean going, ended;
	static int busy;
	static long done, wrong;

	static String worked(Deflater deflater, Inflater inflater) throws Exception
	{
		Map<String, List<Integer>> map = new TreeMap<>();
		for (int k = 0; k < 200; k++)
			map.put("k" + k * 7919 % 1009, Arrays.asList(k, k * k, k % 7));
		byte[] data = map.toString().getBytes("UTF-8");
		byte[] packed = new byte[2 * data.length], back = new byte[data.length];
		deflater.reset();
		deflater.setInput(data);
		deflater.finish();
		int size = deflater.deflate(packed);
		inflater.reset();
		inflater.setInput(packed, 0, size);
		int got = inflater.inflate(back);
		CRC32 crc = new CRC32();
		crc.update(back, 0, got);
		Matcher m = Pattern.compile("(\\d+), (\\d+)").matcher(new String(back, "UTF-8"));
		String text = m.replaceAll("<$2-$1>");
		int caught = 0;
		for (int i = 0; i < 20; i++) {
			try {
				caught += length(i % 5 == 0 ? null : text);
			} catch (NullPointerException e) {
				caught++;
			}
			try {
				caught += back[i * 1000];
			} catch (ArrayIndexOutOfBoundsException e) {
				caught += 2;
			}
		}
		long sum = IntStream.range(0, 2000).mapToObj(Integer::toString).sorted()
			.mapToLong(s -> s.hashCode()).sum();
		byte[] digest = MessageDigest.getInstance("SHA-256").digest((text + caught + sum).getBytes("UTF-8"));
		return Arrays.toString(digest) + crc.getValue() + Arrays.equals(data, back);
	}

	static int length(String text)
	{
		return text.length();
	}

	static void work(String expected)
	{
		Deflater deflater = new Deflater();
		Inflater inflater = new Inflater();
		while (true) {
			synchronized (changed) {
				busy--;
				changed.notifyAll();
				while (!going && !ended) {
					try {
						changed.wait();
					} catch (InterruptedException e) {
					}
				}
				if (ended)
					break;
				busy++;
			}
			boolean good = false;
			try {
				good = worked(deflater, inflater).equals(expected);
			} catch (Throwable e) {
				System.err.println("a round fails: " + e);
			}
			synchronized (changed) {
				done++;
				if (!good)
					wrong++;
			}
		}
		deflater.end();
		inflater.end();
	}

	public static void main(String[] argument) throws Exception
	{
		Deflater deflater = new Deflater();
		Inflater inflater = new Inflater();
		String expected = worked(deflater, inflater);
		Thread[] thread = new Thread[Integer.parseInt(argument[0])];
		busy = thread.length;
		for (int i = 0; i < thread.length; i++) {
			thread[i] = new Thread(() -> work(expected));
			thread[i].start();
		}
		System.out.println("ready " + ProcessHandle.current().pid());
		BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
		for (String line; (line = lines.readLine()) != null;) {
			synchronized (changed) {
				if (line.equals("go")) {
					going = true;
					changed.notifyAll();
				} else if (line.equals("rest")) {
					going = false;
					while (busy > 0)
						changed.wait();
				}
				System.out.println("called " + done + " rounds " + wrong + " wrong");
			}
		}
		synchronized (changed) {
			ended = true;
			changed.notifyAll();
		}
		for (Thread t : thread)
			t.join();
		System.exit(wrong > 0 ? 1 : 0);
	}
}
